import { Type as t } from '@sinclair/typebox';
import { readFigures } from '../../analytics/figures.ts';
import { deletedCodesInTable } from '../../analytics/table-in-use.ts';
import { countCodes, namesOf, totalOf } from '../../codes/codes.ts';
import { json } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { periodOf, periodQuery, presentPeriod } from './period.ts';
import { presentDistribution, presentFigures } from './present.ts';
import { positionHeader, positionOf, readWarehouse, tag } from './reading.ts';
import { Aggregate } from './schemas.ts';

export const aggregateOperation = (service: Service): Operation =>
  operation({
    operationId: 'getAggregateAnalytics',
    method: 'GET',
    path: '/v1/analytics/aggregate',
    tag,
    summary: 'Aggregate analytics',
    description: 'Covers all codes of the account in the mode of the key. Deleted codes are not counted.',
    query: t.Object(periodQuery),
    success: { status: 200, description: 'Analytics over all codes.', schema: Aggregate, headers: positionHeader },
    errors: ['invalid_request'],
    async handle({ caller, query }) {
      const { account, mode } = caller;
      const { bots = 'include' } = query;
      const period = periodOf(query, service.clock());
      const { table, found } = await readWarehouse(service, async (reading, inUse) => {
        const without = await deletedCodesInTable(service.sql, inUse, caller);
        return readFigures(reading, { account, mode, codes: { without }, ...period, bots });
      });
      const [counts, names] = await Promise.all([
        countCodes(service.sql, caller),
        namesOf(
          service.sql,
          caller,
          found.codes.map(({ code }) => code),
        ),
      ]);
      const answer = {
        period: presentPeriod(period),
        summary: {
          ...presentFigures(found, period),
          total_qrcodes: totalOf(counts),
          active_qrcodes: counts.active,
        },
        // A code that was deleted after the read has no name.
        top_qrcodes: found.codes.flatMap(({ code, scans }) => {
          const name = names.get(code);
          return name === undefined ? [] : [{ qr_id: code, name, scans }];
        }),
        ...presentDistribution(found),
      };
      return json(200, answer, positionOf(service, table));
    },
  });
