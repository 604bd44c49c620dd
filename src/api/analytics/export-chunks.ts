import type { Owner } from '../../../events/owner.ts';
import { type Chunk, type ChunkOptions, type ExportCursor, readChunk } from '../../analytics/export.ts';
import { during, type Window, windowsOf } from '../../analytics/export-windows.ts';
import type { Reading } from '../../analytics/reading.ts';
import type { Selection } from '../../analytics/selection.ts';
import type { TableInUse } from '../../analytics/table-in-use.ts';
import { retryLater } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import type { Service } from '../service.ts';
import { exportTurn } from './export-turns.ts';
import { positionOf, readWarehouse } from './reading.ts';

/** About 2 MB. An export holds one chunk in memory, whatever its length. */
const chunkRows = 20_000;

/** Which scans an export has, and with which columns. */
export interface ExportedScans extends Pick<ChunkOptions, 'format' | 'withCode' | 'withLeads'> {
  owner: Owner;
  select(table: TableInUse): Promise<Selection>;
  signal: AbortSignal;
}

/** The scans of an export, read chunk by chunk. */
export class Chunks {
  readonly #service: Service;
  readonly #scans: ExportedScans;
  readonly #windows = windowsOf((read) => this.#read(read), chunkRows);
  /** The table when the export began: scans after its position are left out. */
  #firstTable: TableInUse | undefined;
  #window: Window | undefined;
  /** The last scan that was read of a window that has more of them than a chunk. */
  #after: ExportCursor | undefined;

  constructor(service: Service, scans: ExportedScans) {
    this.#service = service;
    this.#scans = scans;
  }

  /** Whether the export may have another chunk. */
  async hasMore(): Promise<boolean> {
    if (this.#window === undefined) {
      const { value, done } = await this.#windows.next();
      if (done !== true) this.#window = value;
    }
    return this.#window !== undefined;
  }

  /** The next chunk with scans; undefined after the last one. */
  async next(): Promise<Chunk | undefined> {
    while (await this.hasMore()) {
      const window = this.#window as Window;
      const chunk = await this.#read((reading, selection) => this.#readChunk(reading, during(selection, window)));
      const isFull = chunk.rows === chunkRows;
      this.#after = isFull ? chunk.last : undefined;
      if (!isFull) this.#window = undefined;
      if (chunk.rows > 0) return chunk;
    }
    return undefined;
  }

  positionHeader() {
    return this.#firstTable === undefined ? {} : positionOf(this.#service, this.#firstTable);
  }

  #readChunk(reading: Reading, selection: Selection): Promise<Chunk> {
    const { format, withCode, withLeads } = this.#scans;
    const upTo = this.#firstTable?.position ?? 0;
    return readChunk(reading, selection, { format, withCode, withLeads, upTo, after: this.#after, limit: chunkRows });
  }

  /** Waits for its turn: with a timeout until the response begins, then as long as the client does. */
  #read<T>(read: (reading: Reading, selection: Selection) => Promise<T>): Promise<T> {
    const { owner, signal } = this.#scans;
    const hasBegun = this.#firstTable !== undefined;
    const until = hasBegun ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeouts.analyticsReadMs)]);
    return exportTurn(owner.account, () => this.#readNow(read), until);
  }

  async #readNow<T>(read: (reading: Reading, selection: Selection) => Promise<T>): Promise<T> {
    const { found } = await readWarehouse(
      this.#service,
      this.#scans.owner,
      async (reading, table) => {
        this.#firstTable ??= table;
        if (table.position < this.#firstTable.position)
          throw retryLater('Analytics are being rebuilt from the log: try again in a few seconds.');
        return read(reading, await this.#scans.select(table));
      },
      AbortSignal.any([this.#scans.signal, AbortSignal.timeout(timeouts.analyticsReadMs)]),
    );
    return found;
  }
}
