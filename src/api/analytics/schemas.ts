import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { intervals } from '../../warehouse/series.ts';

/** Shapes of what analytics answer with. */

const exact = { additionalProperties: false } as const;

const time = (description: string, example: string) =>
  t.String({ format: 'date-time', description, examples: [example] });
const count = (description: string, example: number) => t.Integer({ minimum: 0, description, examples: [example] });

const qrId = t.String({ description: 'Identifier of the code.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] });
const totalScans = count('Count of all scans.', 1280);
const uniqueVisitors = count('Count of different visitors: exact up to 5,000, within 1 % beyond.', 940);
const scans = count('Count of scans.', 310);
const country = t.String({ description: 'ISO 3166-1 alpha-2; `XX`: unknown.', examples: ['DE'] });
const city = t.String({ description: 'In English; `Unknown` when it is.', examples: ['Berlin'] });

export const devices = ['ios', 'android', 'desktop'] as const;
export const browsers = ['safari', 'chrome', 'samsung_browser', 'other'] as const;

const countsBy = <T extends string>(names: readonly T[], description: string, figures: number[]) =>
  t.Object(Object.fromEntries(names.map((name, i) => [name, count(`Scans.`, figures[i] ?? 0)])), {
    ...exact,
    description,
  });

const PeriodShape = t.Object(
  {
    start: time('First millisecond.', '2026-03-01T00:00:00.000Z'),
    end: time('Last millisecond.', '2026-03-31T23:59:59.999Z'),
  },
  { ...exact, description: 'What the answer is about.' },
);

const distribution = {
  top_countries: t.Array(t.Object({ country, scans }, exact), {
    description: 'The ten with the most scans; ties by name.',
  }),
  top_cities: t.Array(t.Object({ city, country, scans }, exact), {
    description: 'The ten with the most scans; ties by name.',
  }),
  devices: countsBy(devices, 'Scans by device.', [610, 420, 250]),
  browsers: countsBy(browsers, 'Scans by browser.', [590, 480, 90, 120]),
};

const figures = {
  total_scans: totalScans,
  unique_visitors: uniqueVisitors,
  avg_daily_scans: t.Number({
    minimum: 0,
    description: 'Scans by day that the period touches, to 2 decimals.',
    examples: [41.29],
  }),
};

export const Summary = t.Object(
  { qr_id: qrId, period: PeriodShape, summary: t.Object(figures, exact), ...distribution },
  exact,
);

export const Aggregate = t.Object(
  {
    period: PeriodShape,
    summary: t.Object(
      {
        ...figures,
        total_qrcodes: count('Codes that are not deleted.', 12),
        active_qrcodes: count('Those that lead on.', 9),
      },
      exact,
    ),
    top_qrcodes: t.Array(t.Object({ qr_id: qrId, name: t.String({ examples: ['Spring menu'] }), scans }, exact), {
      description: 'The ten with the most scans; ties by age, the oldest first.',
    }),
    ...distribution,
  },
  exact,
);

export const ScanRecord = t.Object(
  {
    id: t.String({ description: 'Identifier of the scan.', examples: ['scan_0VMNcq2hE3kx0dTtWq8LbY'] }),
    timestamp: time('When it happened.', '2026-03-01T09:30:00.000Z'),
    country,
    region: t.String({ description: 'In English; `Unknown` when it is.', examples: ['Land Berlin'] }),
    city,
    device: oneOf(devices),
    browser: oneOf(browsers),
    is_unique: t.Boolean({ description: 'Whether it is the first scan of the code by this visitor.' }),
    is_bot: t.Boolean({ description: 'Whether a program scanned.', examples: [false] }),
  },
  exact,
);

export const TimeSeries = t.Object(
  {
    qr_id: qrId,
    interval: oneOf(intervals),
    data: t.Array(
      t.Object(
        {
          date: t.String({
            description:
              'Of an hour `YYYY-MM-DDTHH:00:00Z`, of a day `YYYY-MM-DD`, of a week its Monday, of a month `YYYY-MM`.',
            examples: ['2026-03-01'],
          }),
          total_scans: totalScans,
          unique_visitors: uniqueVisitors,
        },
        exact,
      ),
      { description: 'Every bucket that the period touches, those without scans included, the oldest first.' },
    ),
  },
  { ...exact },
);

export const Destinations = t.Object(
  {
    qr_id: qrId,
    period: PeriodShape,
    data: t.Array(
      t.Object(
        {
          destination_url: t.String({ format: 'uri', examples: ['https://example.com/menu'] }),
          from: time('Since when the code led there.', '2026-02-11T08:00:00.000Z'),
          to: t.Union([time('', '2026-03-20T16:45:00.000Z'), t.Null()], {
            description: 'Until when; null: it still does.',
          }),
          total_scans: totalScans,
          unique_visitors: uniqueVisitors,
        },
        exact,
      ),
      { description: 'Every destination that the code has had, the oldest first. One that came back is there again.' },
    ),
  },
  exact,
);

export const ExportFile = t.Object({ qr_id: qrId, period: PeriodShape, data: t.Array(ScanRecord) }, exact);

export type Distribution = Pick<Static<typeof Summary>, keyof typeof distribution>;
