import { beforeEach, describe, expect, test } from 'vitest';
import type { Subject } from './clickhouse-subject.ts';

export function warehouseSuite(subject: Subject): void {
  describe('supports the tables of analytics', () => {
    const hours = `SELECT toStartOfHour(time) AS hour, country, count() AS scans, uniqCombined64(visitor) AS visitors
      FROM scans WHERE account = 'acct' AND code = 'qr' GROUP BY hour, country ORDER BY hour, country`;

    beforeEach(async () => {
      await subject.command('DROP TABLE IF EXISTS scans');
      await subject.command(`CREATE TABLE scans (
        account LowCardinality(String), code String, time DateTime64(3, 'UTC'), position UInt64,
        country LowCardinality(String), visitor FixedString(16),
        PROJECTION hourly (
          SELECT account, code, toStartOfHour(time), country, count(), uniqCombined64(visitor)
          GROUP BY account, code, toStartOfHour(time), country
        )
      ) ENGINE = MergeTree PARTITION BY toYYYYMM(time) ORDER BY (account, code, time, position)
      SETTINGS non_replicated_deduplication_window = 1000, lightweight_mutation_projection_mode = 'rebuild'`);
      await subject.command(`INSERT INTO scans SELECT 'acct', 'qr', toDateTime64('2026-01-31 22:00:00', 3, 'UTC') + number, number,
        if(number % 2 = 0, 'DE', 'AT'), toFixedString(leftPad(toString(number % 1000), 16, '0'), 16) FROM numbers(7200)`);
    });

    test('with a projection that is read instead of the rows', async () => {
      const plan = await subject.rows<{ explain: string }>(`EXPLAIN ${hours}`);
      expect(plan.map((row) => row.explain).join('\n')).toMatch(/ReadFromMergeTree \(hourly\)/);
      const found = await subject.rows<Record<string, string>>(hours);
      expect(found.map((row) => [row['hour'], row['country'], Number(row['scans']), Number(row['visitors'])])).toEqual([
        ['2026-01-31 22:00:00', 'AT', 1800, 500],
        ['2026-01-31 22:00:00', 'DE', 1800, 500],
        ['2026-01-31 23:00:00', 'AT', 1800, 500],
        ['2026-01-31 23:00:00', 'DE', 1800, 500],
      ]);
    });

    test('with days of any time zone', async () => {
      const query = `SELECT toString(toStartOfInterval(time, INTERVAL 1 DAY, {zone:String})) AS day, toUInt32(count()) AS n
        FROM scans GROUP BY day ORDER BY day`;
      expect(await subject.rows(query, { params: { zone: 'Europe/Berlin' } })).toEqual(
        [
          { day: '2026-01-31', n: 3600 },
          { day: '2026-02-01', n: 3600 },
        ].map(({ day, n }) => ({ day: expect.stringContaining(day), n })),
      );
    });

    test('with deletion, in the rows and in the projection', async () => {
      await subject.command("DELETE FROM scans WHERE account = 'acct' AND code = 'qr' AND country = 'AT'");
      const found = await subject.rows<Record<string, string>>(hours);
      expect(found.map((row) => [row['country'], Number(row['scans'])])).toEqual([
        ['DE', 1800],
        ['DE', 1800],
      ]);
      expect(Number(await subject.one('SELECT count() FROM scans'))).toBe(3600);
    });
  });
}
