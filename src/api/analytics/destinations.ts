import { Type as t } from '@sinclair/typebox';
import { readRevisions } from '../../analytics/series.ts';
import { destinationsOf } from '../../codes/destinations.ts';
import { json } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { analyticsQuery } from './filters.ts';
import { periodOf, presentPeriod } from './period.ts';
import { presentCounts } from './present.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { Destinations } from './schemas.ts';

export const destinationsOperation = (service: Service): Operation =>
  operation({
    operationId: 'getDestinationAnalytics',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/destinations',
    tag,
    summary: 'Scans by destination',
    description:
      'Every destination that the code has had, when it was set and replaced, and its scans within the period.',
    params: codeParams,
    query: t.Object(analyticsQuery),
    success: {
      status: 200,
      description: 'Every destination, with its scans.',
      schema: Destinations,
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query }) {
      const period = periodOf(query, service.clock());
      const code = await requireCode(service, caller, id);
      const [destinations, { table, found }] = await Promise.all([
        destinationsOf(service.sql, code.id),
        readWarehouse(service, (reading) => readRevisions(reading, scansOfCode(code, period, query))),
      ]);
      const data = destinations.map(({ url, revision, since }, i) => ({
        destination_url: url,
        from: since.toISOString(),
        to: destinations[i + 1]?.since.toISOString() ?? null,
        ...presentCounts(found.get(String(revision)) ?? { scans: 0, visitors: 0 }),
      }));
      return json(200, { qr_id: code.id, period: presentPeriod(period), data }, positionOf(service, table));
    },
  });
