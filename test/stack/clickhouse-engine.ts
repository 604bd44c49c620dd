import { text } from 'node:stream/consumers';
import { TupleParam } from '@clickhouse/client';
import { describe, expect, test } from 'vitest';
import { lineFields, lineOf } from '../../events/scan-line.ts';
import { countRows, createTable, dropTable } from '../../src/analytics/tables.ts';
import { countRowsOf, insertScans, removeRowsOf } from '../../src/analytics/write.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { endless, errorOf, type Subject } from './clickhouse-subject.ts';

const oddStrings = [
  ...['', "it's", '"quoted"', 'back\\slash \\n \\N \\0 \\\\', 'tab\tnewline\nreturn\r\nend', 'nul\0byte'],
  ...['ünïcödé 日本語', '👩‍👩‍👧‍👦 and 🏳️‍🌈', "'; DROP TABLE x; --", '{name:String} %27 + & = # ?'],
  ...['`tick` $tag$ /* comment */ -- dash', '\u2028\u2029\uFEFF'],
];

/** What an engine does, on each engine of this machine. */
export function engineSuite(subject: Subject): void {
  describe('runs statements', () => {
    test('with parameters of every type that ours have', async () => {
      const params = {
        list: oddStrings,
        tuples: [new TupleParam(['acct', "it's", 'qr']), new TupleParam(['', '\\', '\n'])],
        most: 18446744073709551615n,
        time: new Date('2026-03-04T05:06:07.089Z'),
      };
      const query = `SELECT {list:Array(String)} AS list, {tuples:Array(Tuple(String, String, String))} AS tuples,
        toString({most:UInt64}) AS most, toString(toUnixTimestamp64Milli({time:DateTime64(3, 'UTC')})) AS time`;
      expect(await subject.rows(query, params)).toEqual([
        {
          list: oddStrings,
          tuples: [
            ['acct', "it's", 'qr'],
            ['', '\\', '\n'],
          ],
          most: '18446744073709551615',
          time: String(params.time.getTime()),
        },
      ]);
    });

    test('with parameters that together are longer than a statement may be, in the URL and as a form', async () => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      const query = `SELECT ${names.map((name) => `toUInt32(length({${name}:String})) AS ${name}`).join(', ')}`;
      const query_params = Object.fromEntries(names.map((name) => [name, `'${'x'.repeat(120_000)}`]));
      for (const use_multipart_params of [false, true]) {
        const result = await subject.client.query({ query, query_params, use_multipart_params, format: 'JSONEachRow' });
        expect(await result.json()).toEqual([Object.fromEntries(names.map((name) => [name, 120_001]))]);
      }
    });

    test('in the format that they name, or tab-separated', async () => {
      const exec = async (query: string) => (await subject.client.exec({ query })).stream;
      expect(await text(await exec('SELECT 1, 2'))).toBe('1\t2\n');
      expect(Buffer.concat(await (await exec("SELECT 'a', 'bc' FORMAT RowBinary")).toArray())).toEqual(
        Buffer.from('\x01a\x02bc'),
      );
    });

    test('20 at a time, each with its own result', async () => {
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          subject.one('SELECT sum(number) + {n:UInt32} FROM numbers(100000)', { n }),
        ),
      );
      expect(responses.map(Number)).toEqual(Array.from({ length: 20 }, (_, n) => 4_999_950_000 + n));
    });

    test('with settings and parameters that do not apply to the next', async () => {
      const settings = "SELECT toString(getSetting('max_block_size')) AS size";
      const before = await subject.one(settings);
      const clickhouse_settings = { max_block_size: '123' } as const;
      for (const size of ['123', '456', '123']) {
        const set = { clickhouse_settings: { max_block_size: size } };
        const result = await subject.client.query({ query: settings, format: 'JSONEachRow', ...set });
        expect(await result.json()).toEqual([{ size }]);
      }
      await errorOf(subject.client.query({ query: 'SELECT nothing', clickhouse_settings }));
      expect(await subject.one(settings)).toBe(before);
      for (const p of ['secret', 'other', 'secret']) expect(await subject.one('SELECT {p:String}', { p })).toBe(p);
      expect(await errorOf(subject.one('SELECT {p:String}'))).toMatchObject({ type: 'UNKNOWN_QUERY_PARAMETER' });
    });

    test.each([
      ['selec 1', '62', 'SYNTAX_ERROR'],
      ['SELECT * FROM tests.nowhere', '60', 'UNKNOWN_TABLE'],
      ['SELECT * FROM nowhere.t', '81', 'UNKNOWN_DATABASE'],
      ['SHOW CREATE DATABASE nowhere', '81', 'UNKNOWN_DATABASE'],
      ['SELECT throwIf(number = 900000) FROM numbers(1000000)', '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ])('and reports the error of %s', async (query, code, type) => {
      expect(await errorOf(subject.client.command({ query }))).toEqual({ code, type });
    });

    test('and other ones after a client closed the connections of running and waiting reads', async () => {
      const disconnecting = new AbortController();
      const reads = Array.from({ length: 6 }, () =>
        errorOf(subject.client.query({ query: endless, abort_signal: disconnecting.signal })),
      );
      await subject.client.ping();
      disconnecting.abort();
      await Promise.all(reads);
      expect(await subject.one('SELECT 1')).toBe(1);
    });

    test('no longer than max_execution_time', async () => {
      const bounded = subject.client.query({ query: endless, clickhouse_settings: { max_execution_time: 1 } });
      const next = subject.one("SELECT toString(getSetting('max_execution_time'))");
      expect(await errorOf(bounded)).toEqual({ code: '159', type: 'TIMEOUT_EXCEEDED' });
      expect(await next, 'by default').toBe('300');
    });
  });

  describe('stores rows', () => {
    test('of an insert with a token once, and without a token each time', async () => {
      await subject.makeTable('once', 'a UInt8');
      const token = { insert_deduplication_token: 'first' };
      await subject.insert('once', '1\n', token);
      await subject.insert('once', '1\n', token);
      await subject.insert('once', '1\n', { insert_deduplication_token: 'second' });
      await subject.insert('once', '2\n');
      expect(await subject.one('SELECT groupArray(a) FROM (SELECT a FROM tests.once ORDER BY a)')).toEqual([1, 1, 2]);
    });

    test.each([
      ['that look like SQL', 'a;\nb -- c\n\'d\n"e\n/* f\n);\n;\n\\\\\ng\n', 'a;|b -- c|\'d|"e|/* f|);|;|\\|g'],
      ['with an empty one, after which another statement could follow', 'a\n\nDROP TABLE x\n', 'a||DROP TABLE x'],
      ['with a NUL', 'a\0b\nc\n', 'a\0b|c'],
      ['beyond ASCII, without a line break at the end', 'ü\n日本語 \ufeff', 'ü|日本語 \ufeff'],
    ])('from lines %s', async (_, lines, stored) => {
      await subject.command('DROP TABLE IF EXISTS tests.lines');
      await subject.makeTable('lines', 's String');
      await subject.insert('lines', lines);
      expect(await subject.one("SELECT arrayStringConcat(groupArray(s), '|') FROM tests.lines")).toBe(stored);
    });

    test('from more lines than fit into a statement', async () => {
      await subject.makeTable('large', 's String');
      await subject.insert('large', `${'ü'.repeat(100)}\n`.repeat(20_000));
      expect(
        await subject.rows('SELECT toUInt32(count()) AS n, toUInt32(sum(length(s))) AS b FROM tests.large'),
      ).toEqual([{ n: 20_000, b: 4_000_000 }]);
    });

    test('of no insert that has an invalid one, whose error it reports', async () => {
      await subject.makeTable('strict', 'a UInt8');
      expect(await errorOf(subject.insert('strict', '1\noops\n'))).toMatchObject({
        type: expect.stringMatching(/^CANNOT_PARSE/),
      });
      expect(Number(await subject.one('SELECT count() FROM tests.strict'))).toBe(0);
    });

    test('of scans, and removes the scans of a code', async () => {
      const { warehouse } = subject;
      await createTable(warehouse, 1);
      const scans = ['qr_1', 'qr_1', 'qr_2'].map((code, position) => ({
        ...scanned({ code, city: "L'Aquila\t日本" }),
        type: 'code_scanned' as const,
        position,
        is_unique: true,
      }));
      const lines = scans.map((scan) => `${lineOf(scan)}\n`).join('');
      await insertScans(warehouse, 1, { fields: lineFields, lines }, 'token');
      expect(await subject.one('SELECT DISTINCT city FROM tests.scans_v1')).toBe("L'Aquila\t日本");
      const leaving = { codes: [['acct_1', 'live', 'qr_1'] as [string, string, string]] };
      expect(await countRowsOf(warehouse, 1, leaving)).toBe(2);
      await removeRowsOf(warehouse, 1, leaving);
      await eventually(async () => expect(await countRows(warehouse, 1)).toBe(1));
      const hours = `SELECT toUInt32(count()) AS scans FROM tests.scans_v1
        WHERE account = 'acct_1' AND mode = 'live' AND code = 'qr_2' GROUP BY toStartOfHour(time)`;
      expect(await subject.rows(hours)).toEqual([{ scans: 1 }]);
      await dropTable(warehouse, 1);
      expect(await countRows(warehouse, 1)).toBeUndefined();
    });
  });

  if (subject.engine === 'wasm') countsMemory(subject);
  else deletesWithLittleMemory(subject);
}

/** The settings of the background are those of the default profile, which also a statement has that sets none. */
function deletesWithLittleMemory(subject: Subject): void {
  test('collects few of the rows of a projection that a deletion makes again', async () => {
    const value = (name: string) =>
      subject.one('SELECT value FROM system.settings WHERE name = {name:String}', { name });
    expect(Number(await value('min_insert_block_size_rows'))).toBeLessThanOrEqual(16_384);
    expect(Number(await value('min_insert_block_size_bytes'))).toBeLessThanOrEqual(4_000_000);
  });
}

/**
 * An engine refuses every statement once the memory that it has counted reaches its limit. Native ClickHouse subtracts what
 * it frees. WebAssembly never subtracts about 0.2 MB per statement, so its limit must be out of reach
 * (src/stack/clickhouse/wasm-module.ts).
 */
function countsMemory(subject: Subject): void {
  test('does not run out of counted memory after many statements', async () => {
    const countedBytes = async () =>
      Number(await subject.one("SELECT toString(value) FROM system.metrics WHERE metric = 'MemoryTracking'"));
    const limitBytes = Number(
      await subject.one("SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'"),
    );
    const statements = 40;
    const before = await countedBytes();
    for (let i = 0; i < statements; i++) await subject.one('SELECT 1');
    const bytesPerStatement = ((await countedBytes()) - before) / statements;
    expect(limitBytes / Math.max(bytesPerStatement, 1)).toBeGreaterThan(100_000_000);
  });
}
