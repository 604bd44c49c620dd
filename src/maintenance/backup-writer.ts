import type { FileHandle } from 'node:fs/promises';
import type { BackupEnd, BackupHeader, BackupRows, TableLine } from './backup-file.ts';
import { CompressedLines } from './compressed-lines.ts';

/** Writes the lines of a backup (backup-file.ts) to a file. */
export class BackupWriter {
  readonly #lines: CompressedLines;
  readonly #rows: BackupEnd['rows'] = {};

  constructor(handle: FileHandle) {
    this.#lines = new CompressedLines(handle);
  }

  async header(header: BackupHeader): Promise<void> {
    await this.#lines.write(`${JSON.stringify(header)}\n`);
  }

  async table({ table, columns }: TableLine, pieces: AsyncIterable<BackupRows>): Promise<void> {
    await this.#lines.write(`${JSON.stringify({ table, columns })}\n`);
    let rows = 0;
    for await (const { text, count } of pieces) {
      await this.#lines.write(text);
      rows += count;
    }
    this.#rows[table] = rows;
  }

  /** Resolves to the number of rows when the whole file is written. */
  async end(): Promise<number> {
    await this.#lines.end((sha256) => JSON.stringify({ end: { rows: this.#rows, sha256 } satisfies BackupEnd }));
    return Object.values(this.#rows).reduce((sum, rows) => sum + rows, 0);
  }

  /** Resolves when nothing more will be written to the file. */
  abandon(): Promise<void> {
    return this.#lines.abandon();
  }
}
