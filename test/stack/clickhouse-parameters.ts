import { TupleParam } from '@clickhouse/client';
import { describe, expect, test } from 'vitest';
import { errorOf, oddStrings, type Subject } from './clickhouse-subject.ts';

export function parametersSuite(subject: Subject): void {
  describe('accepts parameters', () => {
    // All of these are also in the list below.
    const singly = subject.isFirst ? oddStrings : [];
    test.each(singly.map((text) => [JSON.stringify(text), text]))('with the text %s', async (_, text) => {
      expect(
        await subject.rows('SELECT {p:String} AS s, length({p:String}) AS bytes', { params: { p: text } }),
      ).toEqual(
        [{ s: text, bytes: Number(Buffer.byteLength(text)) }].map(({ s, bytes }) => ({
          s,
          bytes: expect.toSatisfy((value) => Number(value) === bytes),
        })),
      );
    });

    test('of every type that analytics queries use', async () => {
      const params = {
        list: oddStrings,
        map: { "k'": 'v\\', k2: '' },
        tuple: new TupleParam([42, "it's"]),
        most: 18446744073709551615n,
        time: new Date('2026-03-04T05:06:07.089Z'),
        none: null,
        some: "it's",
        low: 'Zürich',
        table: 'odd`table',
      };
      await subject.command('CREATE TABLE `odd\\`table` (a UInt8) ENGINE = Memory');
      const query = `SELECT {list:Array(String)} AS list, {map:Map(String, String)} AS map, {tuple:Tuple(UInt8, String)} AS tuple,
        toString({most:UInt64}) AS most, toUnixTimestamp64Milli({time:DateTime64(3)}) AS time, {none:Nullable(String)} AS none,
        {some:Nullable(String)} AS some, {low:LowCardinality(String)} AS low, (SELECT toUInt8(count()) FROM {table:Identifier}) AS n`;
      const [row] = await subject.rows<Record<string, unknown>>(query, { params });
      expect({ ...row, time: Number(row?.['time']) }).toEqual({
        list: oddStrings,
        map: params.map,
        tuple: [42, "it's"],
        most: '18446744073709551615',
        time: params.time.getTime(),
        none: null,
        some: "it's",
        low: 'Zürich',
        n: 0,
      });
    });

    test('that together exceed the maximum length of a query, in the URL and as a form', async () => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      const query = `SELECT ${names.map((name) => `toUInt32(length({${name}:String})) AS ${name}`).join(', ')}`;
      const query_params = Object.fromEntries(names.map((name) => [name, `'${'x'.repeat(120_000)}`]));
      for (const use_multipart_params of [false, true]) {
        const result = await subject.db.query({ query, query_params, use_multipart_params, format: 'JSONEachRow' });
        expect(await result.json()).toEqual([Object.fromEntries(names.map((name) => [name, 120_001]))]);
      }
    });

    test('for one query only', async () => {
      await subject.rows('SELECT {p:String}', { params: { p: 'secret' } });
      expect(await errorOf(subject.rows('SELECT {p:String}'))).toEqual({
        code: '456',
        type: 'UNKNOWN_QUERY_PARAMETER',
      });
    });
  });
}
