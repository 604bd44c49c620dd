import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from '@clickhouse/client';
import type { Warehouse } from '../../src/analytics/connect.ts';
import type { EngineName } from '../../src/stack/clickhouse/engine.ts';
import { selectedEngines } from '../../src/stack/clickhouse/engines.ts';
import { type ClickHouseProcess, startedClickHouse } from './clickhouse-server.ts';

export const endless = 'SELECT max(sipHash64(number)) FROM numbers(100000000000)';

/** A server under test, with a database `tests`. */
export class Subject {
  readonly engine: EngineName;
  /**
   * The first engine of this machine also runs the tests of the server in front of it, which is the same for all; a second
   * one only the tests of what an engine does.
   */
  readonly isFirst: boolean;
  #running: { server: ClickHouseProcess; client: ClickHouseClient } | undefined;

  constructor(engine: EngineName) {
    this.engine = engine;
    this.isFirst = engine === selectedEngines()[0];
  }

  get #now() {
    if (this.#running === undefined) throw new Error('the server has not started');
    return this.#running;
  }

  get server(): ClickHouseProcess {
    return this.#now.server;
  }

  get client(): ClickHouseClient {
    return this.#now.client;
  }

  get warehouse(): Warehouse {
    return { client: this.client, database: 'tests', cluster: undefined, rebuildAfterMs: 0 };
  }

  async start(dataDir: string): Promise<void> {
    const server = await startedClickHouse(this.engine, dataDir);
    this.#running = { server, client: server.client() };
    await this.command('CREATE DATABASE tests');
  }

  /** Ends the server during an endless read, and resolves to its exit code. */
  async stopWhileBusy(): Promise<number | null> {
    const busy = this.client.query({ query: endless }).catch(() => 'cut off');
    await this.client.ping();
    const code = await this.server.stop();
    await busy;
    await this.client.close();
    return code;
  }

  async rows<Row>(query: string, query_params: Record<string, unknown> = {}): Promise<Row[]> {
    return (await this.client.query({ query, query_params, format: 'JSONEachRow' })).json<Row>();
  }

  /** The first value of the first row. */
  async one(query: string, query_params: Record<string, unknown> = {}): Promise<unknown> {
    const [row] = await this.rows<Record<string, unknown>>(query, query_params);
    return Object.values(row ?? {})[0];
  }

  async command(query: string): Promise<void> {
    await this.client.command({ query });
  }

  /** Creates a table of one column, which ignores an insert with a token that it has seen. */
  async makeTable(name: string, column: string): Promise<void> {
    await this.command(
      `CREATE TABLE tests.${name} (${column}) ENGINE = MergeTree ORDER BY tuple() SETTINGS non_replicated_deduplication_window = 100`,
    );
  }

  async insert(table: string, lines: string, clickhouse_settings: ClickHouseSettings = {}): Promise<void> {
    await this.client.insert({
      table: `tests.${table}`,
      values: Readable.from([lines], { objectMode: false }),
      format: 'TabSeparated',
      clickhouse_settings,
    });
  }
}

/** The error of an attempt: code and type if it is an error of ClickHouse. */
export async function errorOf(attempt: Promise<unknown>): Promise<unknown> {
  try {
    await attempt;
  } catch (error) {
    return error instanceof ClickHouseError ? { code: error.code, type: error.type } : error;
  }
  return 'no error';
}
