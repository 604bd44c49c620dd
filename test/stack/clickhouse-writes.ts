import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { oddStrings, type Subject } from './clickhouse-subject.ts';

export function writesSuite(subject: Subject): void {
  describe('stores', () => {
    test('tables in databases, and finds them by the database of the client', async () => {
      await subject.root.command({ query: 'CREATE DATABASE elsewhere' });
      await subject.root.command({ query: 'CREATE TABLE elsewhere.t (a UInt8) ENGINE = MergeTree ORDER BY a' });
      const elsewhere = subject.server.client({ database: 'elsewhere' });
      await elsewhere.insert({ table: 't', values: [{ a: 7 }], format: 'JSONEachRow' });
      expect(await subject.rows('SELECT currentDatabase() AS d, a FROM t', { on: elsewhere })).toEqual([
        { d: 'elsewhere', a: 7 },
      ]);
      expect(await subject.one('SELECT currentDatabase()')).toBe('tests');
      expect(await subject.rows('SELECT currentDatabase() AS d', { on: subject.root })).toEqual([{ d: 'default' }]);
      await elsewhere.close();
      await subject.root.command({ query: 'DROP DATABASE elsewhere' });
    });

    test('rows with the same deduplication token once, and equal rows with other tokens again', async () => {
      await subject.command(
        'CREATE TABLE once (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
      );
      const insert = (token: string, a: number) =>
        subject.db.insert({
          table: 'once',
          values: [{ a }],
          format: 'JSONEachRow',
          clickhouse_settings: { insert_deduplication_token: token },
        });
      await insert('first', 1);
      await insert('first', 1);
      await insert('first', 2);
      await insert('second', 1);
      expect(await subject.rows('SELECT a FROM once')).toEqual([{ a: 1 }, { a: 1 }]);
    });

    test('equal rows without a token each time', async () => {
      await subject.command('CREATE TABLE often (a UInt8) ENGINE = MergeTree ORDER BY a');
      for (let i = 0; i < 3; i += 1)
        await subject.db.insert({ table: 'often', values: [{ a: 1 }], format: 'JSONEachRow' });
      expect(Number(await subject.one('SELECT count() FROM often'))).toBe(3);
    });

    test('rows before it confirms the insert: async_insert is off', async () => {
      expect(await subject.one("SELECT getSetting('async_insert')")).toBe(false);
    });

    test('rows from a stream, and reports their number', async () => {
      await subject.command('CREATE TABLE streamed (a UInt32, s String) ENGINE = MergeTree ORDER BY a');
      const values = Readable.from(
        (function* () {
          for (let a = 0; a < 20_000; a += 1) yield { a, s: `row ${a} ü` };
        })(),
      );
      const { summary } = await subject.db.insert({ table: 'streamed', values, format: 'JSONEachRow' });
      expect(summary).toMatchObject({ written_rows: '20000' });
      expect(
        await subject.rows(
          'SELECT toUInt32(count()) AS n, max(a) AS last, uniqExact(_part) = 1 AS whole FROM streamed',
        ),
      ).toEqual([{ n: 20_000, last: 19_999, whole: 1 }]);
    });

    test('strings with odd characters exactly', async () => {
      await subject.command('CREATE TABLE odd (n UInt8, s String) ENGINE = MergeTree ORDER BY n');
      await subject.db.insert({ table: 'odd', values: oddStrings.map((s, n) => ({ n, s })), format: 'JSONEachRow' });
      expect((await subject.rows<{ s: string }>('SELECT s FROM odd ORDER BY n')).map((row) => row.s)).toEqual(
        oddStrings,
      );
    });

    // WebAssembly reads rows of any format but TabSeparated from a file, and so it does some of these.
    describe.each(['TabSeparated', ...(subject.isFirst ? ['LineAsString'] : [])])(
      'lines of %s exactly, with',
      (format) => {
        const insert = async (rows: string | Buffer) => {
          await subject.command('DROP TABLE IF EXISTS lines');
          await subject.command('CREATE TABLE lines (s String) ENGINE = MergeTree ORDER BY tuple()');
          const values = Readable.from([rows], { objectMode: false });
          const { stream, summary } = await subject.db.exec({ query: `INSERT INTO lines FORMAT ${format}`, values });
          stream.resume();
          return summary;
        };

        test.each([
          ['text that looks like SQL', 'a;\nb -- c\n\'d\n"e\n/* f\n);\n;\n\ng\n', 'a;|b -- c|\'d|"e|/* f|);|;||g'],
          ['text that would be another statement', 'a\n\nDROP TABLE lines\n', 'a||DROP TABLE lines'],
          ['a NUL', 'a\0b\nc\n', 'a\0b|c'],
          ['a byte order mark', 'a\n\ufeffb\n', 'a|\ufeffb'],
          ['no line break at the end', 'a\nb', 'a|b'],
          ['no rows', '', ''],
        ])('%s', async (_, lines, stored) => {
          const summary = await insert(lines);
          expect(await subject.one("SELECT arrayStringConcat(groupArray(s), '|') FROM lines")).toBe(stored);
          expect(summary?.written_rows).toBe(await subject.one('SELECT toString(count()) FROM lines'));
        });

        test('bytes that are not UTF-8', async () => {
          await insert(Buffer.from([0x66, 0xff, 0xfe, 0x0a]));
          expect(await subject.one('SELECT hex(s) FROM lines')).toBe('66FFFE');
        });
      },
    );

    test('a line break within a value, and counts one row', async () => {
      await subject.command('CREATE TABLE broken (s String) ENGINE = MergeTree ORDER BY tuple()');
      const values = Readable.from(['a\\\nb\n'], { objectMode: false });
      const { summary } = await subject.db.insert({ table: 'broken', values, format: 'TabSeparated' });
      expect(summary).toMatchObject({ written_rows: '1' });
      expect(await subject.one('SELECT s FROM broken')).toBe('a\nb');
    });

    test('more rows than fit into a statement', async () => {
      await subject.command('CREATE TABLE large (a UInt32, s String) ENGINE = MergeTree ORDER BY a');
      const lines = Array.from({ length: 20_000 }, (_, a) => `${a}\t${'ü'.repeat(100)}\n`).join('');
      const values = Readable.from([lines], { objectMode: false });
      await subject.db.insert({ table: 'large', values, format: 'TabSeparated' });
      expect(await subject.rows('SELECT toUInt32(count()) AS n, toUInt32(sum(length(s))) AS b FROM large')).toEqual([
        { n: 20_000, b: 4_000_000 },
      ]);
    });

    test('rows given in the statement itself, with settings and expressions', async () => {
      await subject.command('CREATE TABLE `values` (a UInt8, s String) ENGINE = MergeTree ORDER BY a');
      await subject.command(
        "INSERT INTO values (a, s) SETTINGS async_insert = 0 -- none\nVALUES (1, 'x;y'), (2, concat('a', 'b'));",
      );
      await subject.command('INSERT INTO tests.values FORMAT JSONEachRow\n{"a":3,"s":"c"}\n{"a":4,"s":"d"}');
      await subject.command("INSERT INTO values SELECT 5, 'e'");
      await subject.db.exec({
        query: 'INSERT INTO values FORMAT CSV',
        values: Readable.from(['6,"f\n', 'g"\n'], { objectMode: false }),
      });
      expect((await subject.rows<{ s: string }>('SELECT s FROM values ORDER BY a')).map((row) => row.s)).toEqual([
        'x;y',
        'ab',
        'c',
        'd',
        'e',
        'f\ng',
      ]);
    });

    if (subject.isFirst) anyEngine(subject);
  });
}

function anyEngine(subject: Subject): void {
  test('no rows of an insert with an invalid row or of an incomplete request', async () => {
    await subject.command('CREATE TABLE strict (a UInt8) ENGINE = MergeTree ORDER BY a');
    const bad = await subject.ask('INSERT INTO strict FORMAT JSONEachRow\n{"a":1}\n{"a":oops}');
    expect(bad.status).toBe(400);
    expect(await bad.text()).toContain('(CANNOT_PARSE_INPUT_ASSERTION_FAILED)');
    const socket = await subject.send(
      '&query=INSERT+INTO+strict+FORMAT+JSONEachRow',
      'Transfer-Encoding: chunked\r\n\r\n8\r\n{"a":1}\n\r\n',
    );
    await subject.root.ping();
    socket.destroy();
    await once(socket, 'close');
    expect(Number(await subject.one('SELECT count() FROM strict'))).toBe(0);
  });

  test.each(['gzip', 'zstd', 'br'] as const)('and returns rows compressed with %s', async (codec) => {
    const client = subject.server.client({
      database: 'tests',
      compression: { request: { codec }, response: { codec } },
    });
    await client.command({ query: `CREATE TABLE ${codec}_rows (a UInt32) ENGINE = MergeTree ORDER BY a` });
    const values = Array.from({ length: 5_000 }, (_, a) => ({ a }));
    await client.insert({ table: `${codec}_rows`, values, format: 'JSONEachRow' });
    const result = await client.query({ query: `SELECT a FROM ${codec}_rows ORDER BY a`, format: 'JSONEachRow' });
    expect(result.response_headers['content-encoding']).toBe(codec);
    expect(await result.json()).toEqual(values);
    await client.close();
  });
}
