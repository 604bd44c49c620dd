import { Type as t } from '@sinclair/typebox';
import { countCodes, namesOf, totalOf } from '../../codes/codes.ts';
import { leavingCodes } from '../../codes/warehouse-table.ts';
import { readFigures } from '../../warehouse/figures.ts';
import { json } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { periodOf, periodQuery, presentPeriod } from './period.ts';
import { presentDistribution, presentFigures } from './present.ts';
import { fromWarehouse, positionHeader, positionOf, tag } from './reading.ts';
import { Aggregate } from './schemas.ts';

export const aggregateOperation = (service: Service): Operation =>
  operation({
    method: 'GET',
    path: '/v1/analytics/aggregate',
    tag,
    summary: 'Aggregate analytics',
    description: 'Over all codes of the account in the mode of the key. Deleted codes count nowhere.',
    query: t.Object(periodQuery),
    success: { status: 200, description: 'The figures.', schema: Aggregate, headers: positionHeader },
    errors: ['invalid_request'],
    async handle({ caller, query }) {
      const { account, mode } = caller;
      const { bots = 'include' } = query;
      const period = periodOf(query, service.clock());
      const { table, found } = await fromWarehouse(service, async (reading, inUse) => {
        const without = await leavingCodes(service.sql, inUse, caller);
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
        // One that was deleted just now has no name any more.
        top_qrcodes: found.codes.flatMap(({ code, scans }) => {
          const name = names.get(code);
          return name === undefined ? [] : [{ qr_id: code, name, scans }];
        }),
        ...presentDistribution(found),
      };
      return json(200, answer, positionOf(service, table));
    },
  });
