import { Type as t } from '@sinclair/typebox';
import type { Owner } from '../../../events/owner.ts';
import { readFigures, readTotals } from '../../analytics/figures.ts';
import { codesWithIds, countCodes, type ListedCode, totalOf } from '../../codes/codes.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { accountQuery, scansOfAccount, selectedCodes } from './account.ts';
import { compareQuery, includeQuery, placesQuery } from './filters.ts';
import { comparedPeriod, periodOf, presentPeriod } from './period.ts';
import { presentDistribution, presentFigures, presentPrevious } from './present.ts';
import { positionHeader, positionOf, readWarehouse, tag } from './reading.ts';
import { Aggregate } from './schemas.ts';

export const aggregateOperation = (service: Service): Operation =>
  operation({
    operationId: 'getAggregateAnalytics',
    method: 'GET',
    path: '/v1/analytics/aggregate',
    tag,
    summary: 'Aggregate analytics',
    description:
      'Covers all codes of the account in the mode of the key, or those in `qr_id` and with a `tag`. Deleted codes are not counted. A visitor of several codes counts once for each, because visitors cannot be recognized across codes.',
    query: t.Object({ ...accountQuery, ...compareQuery, ...includeQuery, ...placesQuery }),
    success: { status: 200, description: 'Analytics over all codes.', schema: Aggregate, headers: positionHeader },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, query }) {
      const now = service.clock();
      const period = periodOf(query, now);
      const before = query.compare && comparedPeriod(period, query.compare, now);
      const codes = await selectedCodes(service, caller, query);
      const { table, found } = await readWarehouse(service, caller, async (reading, inUse) => {
        const selection = await scansOfAccount(service, caller, inUse, { codes, period, query });
        return Promise.all([
          readFigures(reading, selection, query),
          before && readTotals(reading, { ...selection, ...before }),
        ]);
      });
      const [figures, previous] = found;
      const ids = figures.codes.map(({ code }) => code);
      const [counts, named] = await Promise.all([
        countsOf(service, caller, codes),
        codesWithIds(service.sql, caller, ids),
      ]);
      const response = {
        period: presentPeriod(period),
        summary: { ...presentFigures(figures, period, query.include), ...counts },
        ...(before && previous && presentPrevious(previous, before, query.include)),
        // A code that was deleted after the read has no name.
        top_qrcodes: figures.codes.flatMap(({ code, scans }) => {
          const name = named.get(code)?.name;
          return name === undefined ? [] : [{ qr_id: code, name, scans }];
        }),
        ...presentDistribution(figures),
      };
      return json(200, response, positionOf(service, table));
    },
  });

async function countsOf({ sql }: Service, owner: Owner, selected: ListedCode[] | undefined) {
  if (selected !== undefined) {
    const active = selected.filter(({ status }) => status === 'active');
    return { total_qrcodes: selected.length, active_qrcodes: active.length };
  }
  const counts = await countCodes(sql, owner);
  return { total_qrcodes: totalOf(counts), active_qrcodes: counts.active };
}
