import { Type as t } from '@sinclair/typebox';
import { isFallback } from '../../../events/targeting/resolver.ts';
import { leadKey, readLeads } from '../../analytics/series.ts';
import { destinationsOf, type Lead } from '../../codes/destinations.ts';
import { timeouts } from '../../lib/timeouts.ts';
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
      'Every destination that the code has had, when it was set and replaced, and its scans within the period; for a code with rules, one row for each rule and variant, too. Of more than 1,000 past destinations without scans, the newest 1,000.',
    params: codeParams,
    query: t.Object(analyticsQuery),
    success: {
      status: 200,
      description: 'Every destination, with its scans.',
      schema: Destinations,
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query, signal }) {
      const period = periodOf(query, service.clock());
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeouts.analyticsReadMs)]);
      const code = await requireCode(service, caller, id);
      const { table, found } = await readWarehouse(service, caller, (reading) =>
        readLeads(reading, scansOfCode(code, period, query)),
      );
      const keyOf = ({ revision, rule, variant }: Lead) => leadKey(revision, rule, variant);
      // What a rule led to in the past is of interest only with scans; past destinations are the history of the code.
      const destinations = await destinationsOf(service.sql, code, (lead) => found.has(keyOf(lead)), inTime);
      const total = [...found.values()].reduce((sum, { scans }) => sum + scans, 0);
      const data = destinations.map((destination) => {
        const { url, rule, variant, since, until } = destination;
        const counted = found.get(keyOf(destination)) ?? { scans: 0, visitors: 0 };
        return {
          destination_url: url,
          rule: rule === undefined || isFallback(rule) ? null : rule,
          variant: variant ?? null,
          from: since.toISOString(),
          to: until?.toISOString() ?? null,
          scans: counted.scans,
          ...presentCounts(counted),
          share: total === 0 ? 0 : Math.round((counted.scans / total) * 10_000) / 10_000,
        };
      });
      return json(200, { qr_id: code.id, period: presentPeriod(period), data }, positionOf(service, table));
    },
  });
