import { Type as t } from '@sinclair/typebox';
import { readCodeScans } from '../analytics/series.ts';
import { bucketsOf } from '../api/analytics/buckets.ts';
import { analyticsQuery, filtersOf } from '../api/analytics/filters.ts';
import { periodOf } from '../api/analytics/period.ts';
import { readWarehouse } from '../api/analytics/reading.ts';
import { type Operation, operation } from '../api/http/operation.ts';
import { json } from '../api/http/responses.ts';
import type { Service } from '../api/service.ts';
import { timeouts } from '../lib/timeouts.ts';
import { idList } from './selection.ts';

const RecentScans = t.Object({
  data: t.Array(
    t.Object({
      id: t.String(),
      total_scans: t.Integer(),
      days: t.Array(t.Integer(), { description: 'Scans of each day, the oldest first.' }),
    }),
  ),
});

/** One statement for all codes of a page of the list, whose response has at most 100 × 30 numbers. */
export const readRecentScans = (service: Service): Operation =>
  operation({
    operationId: 'readScansOfSelectedQrCodes',
    method: 'GET',
    path: '/v1/selection/scans',
    tag: 'QR codes',
    summary: 'Scans of several codes in 30 days',
    description: 'For the console only: the scans of each code on the 30 days up to `end_date`.',
    query: t.Object({
      ids: idList,
      end_date: t.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', 'x-expected': 'a date' }),
      timezone: analyticsQuery.timezone,
      bots: analyticsQuery.bots,
    }),
    success: { status: 200, description: 'The codes, in the order of `ids`.', schema: RecentScans },
    errors: ['invalid_request'],
    answerWithinMs: timeouts.analyticsReadMs + 2_000,
    async handle({ caller: { account, mode }, query: { ids, ...query } }) {
      const period = periodOf(query, service.clock());
      const among = [...new Set(ids.split(','))];
      const selection = { account, mode, codes: { among }, ...period, ...filtersOf(query) };
      const { found } = await readWarehouse(service, { account }, (reading) => readCodeScans(reading, selection));
      const days = bucketsOf(period, 'day');
      const data = among.map((id) => {
        const scans = days.map((day) => found.get(id)?.get(day) ?? 0);
        return { id, total_scans: scans.reduce((sum, count) => sum + count, 0), days: scans };
      });
      return json(200, { data });
    },
  });
