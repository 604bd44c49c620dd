import { Type as t } from '@sinclair/typebox';
import { isFallback } from '../../../events/targeting/resolver.ts';
import { leadKey, readLeads } from '../../analytics/series.ts';
import { destinationsOf } from '../../codes/destinations.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
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
      'Every destination that the code has had, when it was set and replaced, and its scans within the period; for a code with rules, one row for each rule and variant, too.',
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
        readWarehouse(service, caller, (reading) => readLeads(reading, scansOfCode(code, period, query))),
      ]);
      const total = [...found.values()].reduce((sum, { scans }) => sum + scans, 0);
      const data = destinations.flatMap(({ url, revision, rule, variant, since, until }) => {
        const counted = found.get(leadKey(revision, rule, variant)) ?? { scans: 0, visitors: 0 };
        // What a rule led to in the past is of interest only with scans; past destinations are the history of the code.
        if (counted.scans === 0 && rule !== undefined && until !== undefined) return [];
        return [
          {
            destination_url: url,
            rule: rule === undefined || isFallback(rule) ? null : rule,
            variant: variant ?? null,
            from: since.toISOString(),
            to: until?.toISOString() ?? null,
            scans: counted.scans,
            ...presentCounts(counted),
            share: total === 0 ? 0 : Math.round((counted.scans / total) * 10_000) / 10_000,
          },
        ];
      });
      return json(200, { qr_id: code.id, period: presentPeriod(period), data }, positionOf(service, table));
    },
  });
