import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { errorOf, type Subject } from './clickhouse-subject.ts';

/** Fails after 1 MB of rows in CSV: more than is buffered, so the answer has begun when the error occurs. */
const failing = 'SELECT throwIf(number = 500000) AS n FROM numbers(600000)';

export function readsSuite(subject: Subject): void {
  describe('streams', () => {
    test('many rows in batches', async () => {
      const result = await subject.db.query({
        query: 'SELECT number AS n FROM numbers(300000)',
        format: 'JSONEachRow',
      });
      let count = 0;
      let last = -1;
      let batches = 0;
      for await (const batch of result.stream<{ n: number | string }>()) {
        batches += 1;
        count += batch.length;
        last = Number(batch.at(-1)?.json().n ?? last);
      }
      expect({ count, last }).toEqual({ count: 300_000, last: 299_999 });
      expect(batches).toBeGreaterThan(3);
    });

    // The stack of WebAssembly has 8 MB.
    if (subject.engine === 'wasm')
      test('the result of a statement of 9 MB', async () => {
        const answer = await subject.ask(`SELECT length('${'x'.repeat(9_000_000)}')`, '&max_query_size=10000000');
        expect((await answer.text()).trim()).toBe('9000000');
      });

    test('CSV with its header exactly once, also without rows and with a line break in a name', async () => {
      const query = 'SELECT number AS `a "b"\nc`, toString(number) AS s FROM numbers({n:UInt32})';
      const csv = async (n: number) =>
        (await subject.db.query({ query, query_params: { n }, format: 'CSVWithNames' })).text();
      const header = '"a ""b""\nc","s"\n';
      expect(await csv(0)).toBe(header);
      const text = await csv(200_000);
      expect(text.startsWith(`${header}0,"0"\n1,"1"\n`)).toBe(true);
      expect(text.endsWith('199999,"199999"\n')).toBe(true);
      expect(text.split('\n').length).toBe(200_000 + 3);
    });

    if (subject.isFirst) anyEngine(subject);

    test.each(subject.isFirst ? (['JSONEachRow', 'CSV'] as const) : (['CSV'] as const))(
      'an error after rows of %s as an error, never as the end',
      async (format) => {
        for (const response of [false, true]) {
          const client = subject.server.client({ database: 'tests', compression: { response } });
          const result = await client.query({ query: failing, format });
          expect(await errorOf(result.text())).toBeInstanceOf(Error);
          await client.close();
        }
      },
    );
  });
}

function anyEngine(subject: Subject): void {
  test('two header lines of names and types once', async () => {
    const result = await subject.db.query({
      query: 'SELECT toUInt32(number) AS n FROM numbers(150000)',
      format: 'JSONCompactEachRowWithNamesAndTypes',
    });
    const lines = (await result.text()).trimEnd().split('\n');
    expect([lines.length, ...lines.slice(0, 3)]).toEqual([150_002, '["n"]', '["UInt32"]', '[0]']);
  });

  test('JSON that is one valid document', async () => {
    const result = await subject.db.query({
      query: 'SELECT toUInt32(number) AS n FROM numbers(100000)',
      format: 'JSON',
    });
    const { rows: count, data } = await result.json<{ n: number }>();
    expect([count, data.length, data.at(-1)]).toEqual([100_000, 100_000, { n: 99_999 }]);
  });

  test('the text of an error after the rows, and then closes the connection', async () => {
    const query = `${failing} FORMAT JSONEachRow`;
    const socket = await subject.send('', `Content-Length: ${query.length}\r\n\r\n${query}`);
    let head = '';
    let tail = '';
    socket.on('data', (bytes) => {
      if (head === '') head = String(bytes);
      tail = (tail + String(bytes)).slice(-2000);
    });
    await once(socket, 'close');
    const tag = /x-clickhouse-exception-tag: (\w+)/.exec(head)?.[1];
    expect(tail).toMatch(new RegExp(`\\r\n__exception__\r\n${tag}\r\nCode: 395\\. `));
    expect(tail).toMatch(new RegExp(`${tag}\r\n__exception__\r\n\r\n$`));
  });

  test('nothing before the end with wait_end_of_query', async () => {
    const answer = await subject.ask('SELECT throwIf(number = 900000) FROM numbers(1000000)', '&wait_end_of_query=1');
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain('Code: 395.');
  });
}
