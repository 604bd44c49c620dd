import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { intervals, readSeries } from '../../analytics/series.ts';
import { invalid } from '../../lib/errors.ts';
import { json } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { bucketsOf, countBuckets } from './buckets.ts';
import { periodOf, periodQuery } from './period.ts';
import { presentCounts } from './present.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { TimeSeries } from './schemas.ts';

const maxBuckets = 10_000;

export const timeSeriesOperation = (service: Service): Operation =>
  operation({
    operationId: 'getTimeSeries',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/timeseries',
    tag,
    summary: 'Scans over time',
    description:
      'Scans in each bucket that the period overlaps, in UTC; at most 10,000 buckets. The first and the last bucket count only scans within the period.',
    params: codeParams,
    query: t.Object({
      ...periodQuery,
      interval: t.Optional(
        oneOf(intervals, { default: 'day', description: 'Length of a bucket. Weeks begin on Monday.' }),
      ),
    }),
    success: { status: 200, description: 'The time series.', schema: TimeSeries, headers: positionHeader },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query }) {
      const { interval = 'day' } = query;
      const period = periodOf(query, service.clock());
      const buckets = countBuckets(period, interval);
      if (buckets > maxBuckets) {
        const message = `interval must be longer, or the period shorter: it has ${buckets} buckets, and at most ${maxBuckets} are allowed.`;
        throw invalid([{ field: 'interval', message }]);
      }
      const code = await requireCode(service, caller, id);
      const { table, found } = await readWarehouse(service, (reading) =>
        readSeries(reading, scansOfCode(code, period, query), interval),
      );
      const data = bucketsOf(period, interval).map((date) => ({
        date,
        ...presentCounts(found.get(date) ?? { scans: 0, visitors: 0 }),
      }));
      return json(200, { qr_id: code.id, interval, data }, positionOf(service, table));
    },
  });
