import { describe, expect, test } from 'vitest';
import { errorOf, type Subject } from './clickhouse-subject.ts';

export function settingsSuite(subject: Subject): void {
  describe('applies settings to one query only', () => {
    const settings = () => subject.rows("SELECT toString(getSetting('max_block_size')) AS size, timezone() AS zone");

    test('whether it succeeds, fails or writes', async () => {
      const before = await settings();
      const clickhouse_settings = { max_block_size: '123', session_timezone: 'Asia/Tokyo' } as const;
      const result = await subject.db.query({
        query: "SELECT toString(getSetting('max_block_size')) AS size, timezone() AS zone",
        format: 'JSONEachRow',
        clickhouse_settings,
      });
      expect(await result.json()).toEqual([{ size: '123', zone: 'Asia/Tokyo' }]);
      await errorOf(subject.db.query({ query: 'SELECT nothing', clickhouse_settings }));
      await subject.command('CREATE TABLE IF NOT EXISTS setting (a UInt8) ENGINE = Memory', clickhouse_settings);
      await subject.command('SET max_block_size = 77');
      expect(await settings()).toEqual(before);
    });

    test('so that the deduplication token of an insert does not apply to the next', async () => {
      await subject.command(
        'CREATE TABLE tokens (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
      );
      const insert = (a: number, clickhouse_settings = {}) =>
        subject.db.insert({ table: 'tokens', values: [{ a }], format: 'JSONEachRow', clickhouse_settings });
      await insert(1, { insert_deduplication_token: 'mine' });
      await insert(2);
      await insert(3);
      expect(Number(await subject.one('SELECT count() FROM tokens'))).toBe(3);
    });
  });
}
