import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { OwnedScanRecord, ScanRecord } from '../../../events/scan-record.ts';
import { browsers, devices } from '../../../events/targeting/targeting-words.ts';
import { intervals } from '../../analytics/series.ts';
import { exact } from '../http/schemas.ts';

/** Schemas of analytics responses. */

const time = (description: string, example: string) =>
  t.String({ format: 'date-time', description, examples: [example] });
const count = (description: string, example: number) => t.Integer({ minimum: 0, description, examples: [example] });

const qrId = t.String({ description: 'Identifier of the code.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] });
const name = t.String({ description: 'Name of the code.', examples: ['Spring menu'] });
const totalScans = count('Number of scans.', 1280);
const uniqueVisitors = count('Number of distinct visitors: exact up to 5,000, within 1 % above that.', 940);
const scans = count('Number of scans.', 310);
const country = t.String({ description: 'ISO 3166-1 alpha-2 code; `XX` if unknown.', examples: ['DE'] });
const city = t.String({ description: 'English name; `Unknown` if unknown.', examples: ['Berlin'] });

export { browsers, devices } from '../../../events/targeting/targeting-words.ts';
export { OwnedScanRecord, ScanRecord };

const countsBy = <T extends string>(names: readonly T[], description: string, figures: number[]) =>
  t.Object(Object.fromEntries(names.map((name, i) => [name, count('Number of scans.', figures[i] ?? 0)])), {
    ...exact,
    description,
  });

export const PeriodShape = t.Object(
  {
    start: time('First millisecond of the period.', '2026-03-01T00:00:00.000Z'),
    end: time('Last millisecond of the period.', '2026-03-31T23:59:59.999Z'),
  },
  { ...exact, description: 'The period that the response covers.' },
);

const distribution = {
  top_countries: t.Array(t.Object({ country, scans }, exact), {
    description: 'The ten with the most scans, or as many as `countries` says; ties are sorted by name.',
  }),
  top_cities: t.Array(t.Object({ city, country, scans }, exact), {
    description: 'The ten with the most scans, or as many as `cities` says; ties are sorted by name.',
  }),
  devices: countsBy(devices, 'Scans by device.', [610, 420, 250]),
  browsers: countsBy(browsers, 'Scans by browser.', [590, 480, 90, 120]),
};

const uniqueScans = count(
  'With `include=counts`: number of scans with `is_unique`, which are first scans of a code by a visitor.',
  930,
);

const figures = {
  total_scans: totalScans,
  unique_visitors: uniqueVisitors,
  avg_daily_scans: t.Number({
    minimum: 0,
    description:
      'Scans divided by the length of the period in days, which counts as at least 1, to 2 decimals. A period of plain dates is as many days long as it has dates.',
    examples: [41.29],
  }),
  unique_scans: t.Optional(uniqueScans),
  bot_scans: t.Optional(
    count('With `include=counts`: number of scans by bots, whether `bots` counts them or not.', 14),
  ),
};

export const SummaryFigures = t.Object(figures, exact);
/** A figure that is missing where responses are made (present.ts) does not compile. */
export type SummaryFigures = Static<typeof SummaryFigures>;

const previous = t.Optional(
  t.Object(
    { period: PeriodShape, summary: SummaryFigures },
    { ...exact, description: 'With `compare`: the earlier period.' },
  ),
);

export const Summary = t.Object(
  { qr_id: qrId, period: PeriodShape, summary: SummaryFigures, previous, ...distribution },
  exact,
);

export const Aggregate = t.Object(
  {
    period: PeriodShape,
    summary: t.Object(
      {
        ...figures,
        total_qrcodes: count('Number of codes, without deleted ones; of the codes in `qr_id`, if given.', 12),
        active_qrcodes: count('Number of these codes with status `active`.', 9),
      },
      exact,
    ),
    previous,
    top_qrcodes: t.Array(t.Object({ qr_id: qrId, name, scans }, exact), {
      description: 'The ten with the most scans; of ties, the oldest code first.',
    }),
    ...distribution,
  },
  exact,
);

const { rule, variant } = ScanRecord.properties;

const buckets = t.Array(
  t.Object(
    {
      date: t.String({
        description:
          'Start of the bucket, in `timezone`. hour: `YYYY-MM-DDTHH:00:00Z`, or with the offset in place of `Z` if the time zone is not UTC: `2026-11-15T13:00:00+05:30`; day: `YYYY-MM-DD`; week: its Monday, `YYYY-MM-DD`; month: `YYYY-MM`.',
        examples: ['2026-03-01'],
      }),
      total_scans: totalScans,
      unique_visitors: uniqueVisitors,
    },
    exact,
  ),
  { description: 'Every bucket that the period overlaps, oldest first, including those without scans.' },
);

const previousBuckets = t.Optional(
  t.Object({ period: PeriodShape, data: buckets }, { ...exact, description: 'With `compare`: the earlier period.' }),
);

export const TimeSeries = t.Object(
  { qr_id: qrId, interval: oneOf(intervals), data: buckets, previous: previousBuckets },
  exact,
);

export const AccountTimeSeries = t.Object(
  {
    interval: oneOf(intervals),
    data: buckets,
    previous: previousBuckets,
    qrcodes: t.Optional(
      t.Array(t.Object({ qr_id: qrId, name, data: buckets }, exact), {
        description: 'With `top`: the codes with the most scans, each with its own time series.',
      }),
    ),
  },
  exact,
);

const hours = {
  period: PeriodShape,
  data: t.Array(
    t.Object(
      {
        weekday: t.Integer({ minimum: 1, maximum: 7, description: '1 for Monday to 7 for Sunday.', examples: [6] }),
        hour: t.Integer({ minimum: 0, maximum: 23, description: 'Hour of the day, in `timezone`.', examples: [12] }),
        total_scans: totalScans,
      },
      exact,
    ),
    {
      description: 'Every hour of the week, from Monday 0 h, including those without scans.',
    },
  ),
};

export const HeatMap = t.Object({ qr_id: qrId, ...hours }, exact);
export const AccountHeatMap = t.Object(hours, exact);

const codeFigures = {
  total_scans: totalScans,
  unique_visitors: uniqueVisitors,
  unique_scans: count('Number of scans with `is_unique`, which are first scans of the code by a visitor.', 930),
};

export const CodeFigures = t.Object(
  {
    qr_id: qrId,
    name,
    short_url: t.String({
      format: 'uri',
      description: 'Short link of the code.',
      examples: ['https://qr.example/menu'],
    }),
    ...codeFigures,
    previous: t.Optional(
      t.Object(codeFigures, {
        ...exact,
        description: 'With `compare`: the same figures for the earlier period.',
      }),
    ),
  },
  exact,
);

export const Destinations = t.Object(
  {
    qr_id: qrId,
    period: PeriodShape,
    data: t.Array(
      t.Object(
        {
          destination_url: t.String({ format: 'iri', examples: ['https://example.com/menu'] }),
          rule,
          variant,
          from: time('When this destination was set.', '2026-02-11T08:00:00.000Z'),
          to: t.Union([time('', '2026-03-20T16:45:00.000Z'), t.Null()], {
            description: 'When it was replaced; null for the current destination.',
          }),
          scans,
          total_scans: totalScans,
          unique_visitors: uniqueVisitors,
          share: t.Number({
            minimum: 0,
            maximum: 1,
            description: 'Part of the scans of the period, to 4 decimals.',
            examples: [0.2422],
          }),
        },
        exact,
      ),
      {
        description:
          'One row for each destination that the code has had, and for each rule and variant at it, oldest first. A destination that was set twice is listed twice; a rule or fallback of the past only if it has scans.',
      },
    ),
  },
  exact,
);

/** What `columns=all` adds to the scans of an export. */
const allColumns = {
  destination_url: t.Optional(t.String({ description: 'Where the scan led.', examples: ['https://example.com/menu'] })),
  name: t.Optional(name),
  tags: t.Optional(t.Array(t.String(), { description: 'Tags of the code.', examples: [['summer']] })),
  domain: t.Optional(
    t.Union([t.String(), t.Null()], { description: 'The custom domain of the code.', examples: ['go.example.com'] }),
  ),
};
const ExportedScan = t.Object({ ...ScanRecord.properties, ...allColumns }, exact);
const ExportedOwnedScan = t.Object({ ...OwnedScanRecord.properties, ...allColumns }, exact);

export const ExportFile = t.Object({ qr_id: qrId, period: PeriodShape, data: t.Array(ExportedScan) }, exact);
export const AccountExportFile = t.Object({ period: PeriodShape, data: t.Array(ExportedOwnedScan) }, exact);
