import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { expect } from 'vitest';
import type { EngineName } from '../../src/stack/clickhouse/engine.ts';
import { selectedEngines } from '../../src/stack/clickhouse/engines.ts';
import { type ClickHouseProcess, password, startedClickHouse } from './clickhouse-server.ts';

export const authorization = `Basic ${Buffer.from(`default:${password}`).toString('base64')}`;

export const oddStrings = [
  '',
  "it's",
  '"quoted"',
  'back\\slash \\n \\N \\0 \\\\',
  'tab\tnewline\nreturn\r\nend',
  'nul\0byte',
  'ünïcödé 日本語',
  '👩‍👩‍👧‍👦 and 🏳️‍🌈',
  "'; DROP TABLE x; --",
  '{name:String} %27 + & = # ?',
  '`tick` $tag$ /* comment */ -- dash',
  '\u2028\u2029\uFEFF',
];

export const endless = 'SELECT max(sipHash64(number)) FROM numbers(100000000000)';

/** A server under test, with a database `tests`. */
export interface Subject {
  engine: EngineName;
  /**
   * The first engine of this machine also runs the tests of the server in front of it, which is the same for all; a second
   * one only those of what an engine does: queries, inserts, streams and cancellation.
   */
  isFirst: boolean;
  server: ClickHouseProcess;
  root: ClickHouseClient;
  db: ClickHouseClient;
  rows<T>(query: string, options?: { params?: Record<string, unknown>; on?: ClickHouseClient }): Promise<T[]>;
  /** The first value of the first row. */
  one(query: string, params?: Record<string, unknown>): Promise<unknown>;
  command(query: string, settings?: Record<string, string | number>): Promise<unknown>;
  /** Sends a query with fetch, to see the raw response. */
  ask(query: string, search?: string): Promise<Response>;
  /** Opens a connection and sends the head of a request, followed by `rest`. */
  send(search: string, rest: string): Promise<Socket>;
  start(dataDir: string): Promise<void>;
  /** Ends the server during an endless query, and resolves to its exit code. */
  stopWhileBusy(): Promise<number | null>;
}

export function newSubject(engine: EngineName): Subject {
  let running: { server: ClickHouseProcess; root: ClickHouseClient; db: ClickHouseClient } | undefined;
  const now = () => {
    if (running === undefined) throw new Error('the server has not started');
    return running;
  };
  return {
    engine,
    isFirst: engine === selectedEngines()[0],
    get server() {
      return now().server;
    },
    get root() {
      return now().root;
    },
    get db() {
      return now().db;
    },
    async rows<T>(query: string, options: { params?: Record<string, unknown>; on?: ClickHouseClient } = {}) {
      const params = options.params ? { query_params: options.params } : {};
      return (await (options.on ?? now().db).query({ query, format: 'JSONEachRow', ...params })).json<T>();
    },
    async one(query, params) {
      const [row] = await this.rows<Record<string, unknown>>(query, params ? { params } : {});
      return Object.values(row ?? {})[0];
    },
    command: (query, settings = {}) => now().db.command({ query, clickhouse_settings: settings }),
    ask: (query, search = '') =>
      fetch(`${now().server.url}/?database=tests${search}`, {
        method: 'POST',
        body: query,
        headers: { authorization },
      }),
    async send(search, rest) {
      const socket = connect(now().server.port, '127.0.0.1');
      await once(socket, 'connect');
      const head = `POST /?database=tests${search} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;
      await new Promise((resolve) => socket.write(head + rest, resolve));
      return socket;
    },
    async start(dataDir) {
      const server = await startedClickHouse(engine, dataDir);
      running = { server, root: server.client(), db: server.client({ database: 'tests' }) };
      await running.root.command({ query: 'CREATE DATABASE tests' });
    },
    async stopWhileBusy() {
      const { server, root, db } = now();
      const busy = db.query({ query: endless }).catch(() => 'cut off');
      await root.ping();
      const code = await server.stop();
      expect(await busy).toBe('cut off');
      await root.close();
      await db.close();
      return code;
    },
  };
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
