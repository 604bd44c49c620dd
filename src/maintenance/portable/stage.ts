import type { StoredEvent } from '../../../events/catalogue.ts';
import type { Recorded } from '../../../events/recorded.ts';
import { applyState, stateTables } from '../../../projections/state.ts';
import { messageOf, StartError } from '../../lib/errors.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Sql, Transaction } from '../../lib/sql.ts';
import type { CursorSource } from '../../log/cursor-source.ts';
import { headOfLog } from '../../log/read.ts';
import { damaged, type FileEnd, type FilePiece, openAccountFile } from './account-file.ts';
import { EntryChecks, entryOf } from './check-lines.ts';
import type { FileKey } from './file-key.ts';
import { recordOf, recordTables, stageRecords } from './staged-records.ts';

/** Tables like the service's, with the rows of the account that is imported. */
export const stagingSchema = 'account_import';

/** Bytes of records and events that one transaction writes, about. */
const maxBatchCharacters = 1024 * 1024;
const maxBatchRows = 1_000;

export interface Staged extends FileEnd {
  /** What cursors of the log that the account comes from are sealed with. */
  cursors: CursorSource;
}

export interface StageOptions {
  sql: Sql;
  box: SecretBox;
  key: FileKey;
  /** Awaited; called with the number of entries that are read. */
  onProgress?: (entries: number) => unknown;
}

export async function createStaging(sql: Sql): Promise<void> {
  await dropStaging(sql);
  await sql.unsafe(`CREATE SCHEMA ${stagingSchema}`);
  for (const table of [...Object.keys(stateTables), ...recordTables])
    await sql.unsafe(`CREATE TABLE ${stagingSchema}.${table} (LIKE public.${table} INCLUDING ALL)`);
}

export const dropStaging = (sql: Sql) => sql.unsafe(`DROP SCHEMA IF EXISTS ${stagingSchema} CASCADE`);

/** Rows that are written by the next transaction. */
class Batch<T> {
  readonly #write: (rows: T[]) => Promise<void>;
  #rows: T[] = [];
  #characters = 0;

  constructor(write: (rows: T[]) => Promise<void>) {
    this.#write = write;
  }

  async add(row: T, characters: number): Promise<void> {
    this.#rows.push(row);
    this.#characters += characters;
    if (this.#rows.length >= maxBatchRows || this.#characters >= maxBatchCharacters) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#rows.length > 0) await this.#write(this.#rows);
    this.#rows = [];
    this.#characters = 0;
  }
}

/**
 * Reads a whole file, checks it, and fills the staging tables with everything but scans and visitors. Throws a `StartError` if the
 * file cannot be imported. Nothing that the service reads is changed.
 */
export async function stageFile(file: string, options: StageOptions): Promise<Staged> {
  const { header, pieces } = await openAccountFile(file);
  if (header.key !== options.key.fingerprint)
    throw new StartError(`This is not the key of ${file}: use the one that the export has printed.`);
  const loader = new Loader(header.account, await headOfLog(options.sql), options);
  for (;;) {
    const next = await pieces.next();
    if (next.done) return Object.assign(next.value, { cursors: await loader.finish().catch(refuse) });
    await loader.add(next.value).catch(refuse);
  }
  function refuse(error: unknown): never {
    throw error instanceof InvalidLine ? damaged(file, messageOf(error)) : error;
  }
}

class InvalidLine extends Error {}

/** What a check returns; its error is about the file. */
function checked<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw new InvalidLine(messageOf(error));
  }
}

class Loader {
  readonly #account: string;
  readonly #options: StageOptions;
  readonly #checks: EntryChecks;
  readonly #scanned = new Set<string>();
  readonly #records: Batch<ReturnType<typeof recordOf>>;
  readonly #events: Batch<Recorded<StoredEvent>>;
  readonly #head: number;
  #cursors: CursorSource | undefined;
  /** Expected positions, see src/log/expected-positions.ts: lower than those that the entries get, and in the same order. */
  #position: number;

  constructor(account: string, head: number, options: StageOptions) {
    this.#account = account;
    this.#options = options;
    this.#checks = new EntryChecks(account);
    this.#head = head;
    this.#position = head;
    this.#records = new Batch((records) =>
      this.#inStaging(async (tx) => {
        this.#cursors = (await stageRecords(tx, records, account, options.box)) ?? this.#cursors;
      }),
    );
    this.#events = new Batch((events) => this.#inStaging((tx) => applyState(tx, events)));
  }

  async add({ section, lines }: FilePiece): Promise<void> {
    const { key, onProgress } = this.#options;
    if (section === 'records')
      for (const line of lines)
        await this.#records.add(
          checked(() => recordOf(line, key, this.#account)),
          line.length,
        );
    else if (section === 'visitors') checked(() => this.#addVisitors(lines));
    else {
      for (const line of lines) {
        const event = checked(() => this.#addEntry(line));
        if (event !== undefined) await this.#events.add(event, line.length);
      }
      await onProgress?.(this.#position - this.#head);
    }
  }

  /** Throws if the parts of the file do not fit together. */
  async finish(): Promise<CursorSource> {
    await this.#records.flush();
    await this.#events.flush();
    return checked(() => {
      if (this.#checks.isEmpty || this.#cursors === undefined) throw new Error('it has no account');
      for (const code of this.#scanned)
        if (!this.#checks.hasCode(code)) throw new Error(`it has visitors of ${code}, which it does not have`);
      return this.#cursors;
    });
  }

  /** The event of a line, at its expected position; undefined for a scan. */
  #addEntry(line: string): Recorded<StoredEvent> | undefined {
    const event = this.#checks.add(entryOf(line));
    this.#position++;
    return event && Object.assign(event, { position: this.#position });
  }

  #addVisitors(lines: string[]): void {
    for (const line of lines) {
      const [code] = visitorOf(line);
      // A copy: a part of a text keeps all of it in memory.
      if (!this.#scanned.has(code)) this.#scanned.add(Buffer.from(code).toString());
    }
  }

  async #inStaging(write: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.#options.sql.begin(async (tx) => {
      await tx.unsafe(`SET LOCAL search_path = ${stagingSchema}, public`);
      await write(tx);
    });
  }
}

const visitorPattern = /^(qr_\w{1,60})\t([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Code and visitor of a line. */
export function visitorOf(line: string): [code: string, visitor: string] {
  const [, code, visitor] = visitorPattern.exec(line) ?? [];
  if (code === undefined || visitor === undefined) throw new Error('it has a visitor in an unknown format');
  return [code, visitor];
}
