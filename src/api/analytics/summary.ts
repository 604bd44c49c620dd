import { Type as t } from '@sinclair/typebox';
import { readFigures, readTotals } from '../../analytics/figures.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { analyticsQuery, compareQuery, includeQuery, placesQuery } from './filters.ts';
import { comparedPeriod, periodOf, presentPeriod } from './period.ts';
import { presentDistribution, presentFigures, presentPrevious } from './present.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { Summary } from './schemas.ts';

/** The summary of a code, which has two paths. */
export const summaryOperations = (service: Service): Operation[] =>
  (
    [
      ['getAnalyticsSummary', '/v1/qrcodes/:id/analytics'],
      ['getAnalyticsSummaryByVariantPath', '/v1/analytics/qrcodes/:id'],
    ] as const
  ).map(([operationId, path]) =>
    operation({
      operationId,
      method: 'GET',
      path,
      tag,
      summary: 'Analytics summary',
      description: 'Scans and visitors of a code in a period, by country, city, device and browser.',
      params: codeParams,
      query: t.Object({ ...analyticsQuery, ...compareQuery, ...includeQuery, ...placesQuery }),
      success: { status: 200, description: 'The summary.', schema: Summary, headers: positionHeader },
      errors: ['invalid_request', 'not_found'],
      async handle({ caller, params: { id }, query }) {
        const now = service.clock();
        const period = periodOf(query, now);
        const before = query.compare && comparedPeriod(period, query.compare, now);
        const code = await requireCode(service, caller, id);
        const { table, found } = await readWarehouse(service, caller, (reading) =>
          Promise.all([
            readFigures(reading, scansOfCode(code, period, query), query),
            before && readTotals(reading, scansOfCode(code, before, query)),
          ]),
        );
        const [figures, previous] = found;
        const response = {
          qr_id: code.id,
          period: presentPeriod(period),
          summary: presentFigures(figures, period, query.include),
          ...(before && previous && presentPrevious(previous, before, query.include)),
          ...presentDistribution(figures),
        };
        return json(200, response, positionOf(service, table));
      },
    }),
  );
