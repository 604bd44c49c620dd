import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { invalid } from '../../lib/errors.ts';
import { intervals, readSeries } from '../../warehouse/series.ts';
import { json } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { bucketsOf, countBuckets } from './buckets.ts';
import { periodOf, periodQuery } from './period.ts';
import { presentCounts } from './present.ts';
import { codeParams, fromWarehouse, ofCode, ownCode, positionHeader, positionOf, tag } from './reading.ts';
import { TimeSeries } from './schemas.ts';

const mostBuckets = 10_000;

export const timeSeriesOperation = (service: Service): Operation =>
  operation({
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/timeseries',
    tag,
    summary: 'Scans over time',
    description:
      'Every bucket that the period touches, in UTC; at most 10,000. The first and the last count only what of them is in the period.',
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
      if (buckets > mostBuckets) {
        const message = `interval must be longer, or the period shorter: it has ${buckets} buckets, more than ${mostBuckets}.`;
        throw invalid([{ field: 'interval', message }]);
      }
      const code = await ownCode(service, caller, id);
      const { table, found } = await fromWarehouse(service, (reading) =>
        readSeries(reading, ofCode(code, period, query), interval),
      );
      const data = bucketsOf(period, interval).map((date) => ({
        date,
        ...presentCounts(found.get(date) ?? { scans: 0, visitors: 0 }),
      }));
      return json(200, { qr_id: code.id, interval, data }, positionOf(service, table));
    },
  });
