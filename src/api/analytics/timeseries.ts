import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { readCodes } from '../../analytics/codes.ts';
import type { Reading } from '../../analytics/reading.ts';
import type { Selection } from '../../analytics/selection.ts';
import { type Counted, type Interval, intervals, readCodeSeries, readSeries } from '../../analytics/series.ts';
import { codesWithIds } from '../../codes/codes.ts';
import { invalid } from '../../lib/errors.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { accountQuery, scansOfAccount, selectedCodes } from './account.ts';
import { bucketsOf, countBuckets } from './buckets.ts';
import { analyticsQuery, compareQuery } from './filters.ts';
import { comparedPeriod, type Period, periodOf, presentPeriod } from './period.ts';
import { presentCounts } from './present.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { AccountTimeSeries, TimeSeries } from './schemas.ts';

const maxBuckets = 10_000;
const maxTop = 10;

const intervalQuery = {
  interval: t.Optional(oneOf(intervals, { default: 'day', description: 'Length of a bucket. Weeks begin on Monday.' })),
};

const description =
  'Scans in each bucket that the period overlaps, in `timezone`; at most 10,000 buckets. The first and the last bucket count only scans within the period.';

export const timeSeriesOperations = (service: Service): Operation[] => [
  operation({
    operationId: 'getTimeSeries',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/timeseries',
    tag,
    summary: 'Scans over time',
    description,
    params: codeParams,
    query: t.Object({ ...analyticsQuery, ...intervalQuery, ...compareQuery }),
    success: { status: 200, description: 'The time series.', schema: TimeSeries, headers: positionHeader },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query }) {
      const { interval = 'day' } = query;
      const now = service.clock();
      const period = periodOf(query, now);
      const before = query.compare && comparedPeriod(period, query.compare, now);
      checkBuckets(period, interval);
      const code = await requireCode(service, caller, id);
      const { table, found } = await readWarehouse(service, caller, (reading) =>
        readBoth(reading, scansOfCode(code, period, query), interval, before),
      );
      return json(
        200,
        { qr_id: code.id, interval, ...presentBoth(found, { period, before, interval }) },
        positionOf(service, table),
      );
    },
  }),
  operation({
    operationId: 'getAccountTimeSeries',
    method: 'GET',
    path: '/v1/analytics/timeseries',
    tag,
    summary: 'Scans over time, over all codes',
    description: `${description} Covers all codes of the account in the mode of the key, or those in \`qr_id\`.`,
    query: t.Object({
      ...accountQuery,
      ...intervalQuery,
      ...compareQuery,
      top: t.Optional(
        t.Integer({
          minimum: 0,
          maximum: maxTop,
          default: 0,
          description: 'Adds a time series for each of this many codes: those with the most scans in the period.',
        }),
      ),
    }),
    success: { status: 200, description: 'The time series.', schema: AccountTimeSeries, headers: positionHeader },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, query }) {
      const { interval = 'day', top = 0 } = query;
      const now = service.clock();
      const period = periodOf(query, now);
      const before = query.compare && comparedPeriod(period, query.compare, now);
      checkBuckets(period, interval, top + 1);
      const codes = await selectedCodes(service, caller, query);
      const { table, found } = await readWarehouse(service, caller, async (reading, inUse) => {
        const selection = await scansOfAccount(service, caller, inUse, { codes, period, query });
        return Promise.all([
          readBoth(reading, selection, interval, before),
          top === 0 ? undefined : readTop(reading, selection, interval, top),
        ]);
      });
      const [both, ranked] = found;
      const response = {
        interval,
        ...presentBoth(both, { period, before, interval }),
        ...(ranked === undefined ? {} : { qrcodes: await named(ranked) }),
      };
      return json(200, response, positionOf(service, table));

      async function named(series: Map<string, Map<string, Counted>>) {
        const byId = await codesWithIds(service.sql, caller, [...series.keys()]);
        // A code that was deleted after the read has no name.
        return [...series].flatMap(([qr_id, counts]) => {
          const name = byId.get(qr_id)?.name;
          return name === undefined ? [] : [{ qr_id, name, data: presentBuckets(counts, period, interval) }];
        });
      }
    },
  }),
];

function checkBuckets(period: Period, interval: Interval, series = 1): void {
  const buckets = countBuckets(period, interval) * series;
  if (buckets <= maxBuckets) return;
  const message = `interval must be longer, or the period shorter: it has ${buckets} buckets, and at most ${maxBuckets} are allowed.`;
  throw invalid([{ field: 'interval', message }]);
}

interface Both {
  current: Map<string, Counted>;
  previous: Map<string, Counted> | undefined;
}

async function readBoth(
  reading: Reading,
  selection: Selection,
  interval: Interval,
  before: Period | undefined,
): Promise<Both> {
  const [current, previous] = await Promise.all([
    readSeries(reading, selection, interval),
    before && readSeries(reading, { ...selection, ...before }, interval),
  ]);
  return { current, previous };
}

/** The series of the codes with the most scans, most first. */
async function readTop(reading: Reading, selection: Selection, interval: Interval, limit: number) {
  const { codes } = await readCodes(reading, selection, { offset: 0, limit });
  const among = codes.map(({ code }) => code);
  if (among.length === 0) return new Map<string, Map<string, Counted>>();
  const series = await readCodeSeries(reading, { ...selection, codes: { among } }, interval);
  return new Map(among.map((code) => [code, series.get(code) ?? new Map<string, Counted>()]));
}

const presentBuckets = (counts: Map<string, Counted>, period: Period, interval: Interval) =>
  bucketsOf(period, interval).map((date) => ({
    date,
    ...presentCounts(counts.get(date) ?? { scans: 0, visitors: 0 }),
  }));

function presentBoth(
  { current, previous }: Both,
  { period, before, interval }: { period: Period; before: Period | undefined; interval: Interval },
) {
  return {
    data: presentBuckets(current, period, interval),
    ...(before &&
      previous && { previous: { period: presentPeriod(before), data: presentBuckets(previous, before, interval) } }),
  };
}
