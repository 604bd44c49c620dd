import { Type as t } from '@sinclair/typebox';
import { readHeatMap } from '../../analytics/series.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { accountQuery, scansOfAccount, selectedCodes } from './account.ts';
import { analyticsQuery } from './filters.ts';
import { periodOf, presentPeriod } from './period.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { AccountHeatMap, HeatMap } from './schemas.ts';

const summary = 'Scans by weekday and hour';
const description = 'Scans of the period in each of the 168 hours of a week, in `timezone`.';

export const heatMapOperations = (service: Service): Operation[] => [
  operation({
    operationId: 'getHeatMap',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/heatmap',
    tag,
    summary,
    description,
    params: codeParams,
    query: t.Object(analyticsQuery),
    success: { status: 200, description: 'The hours of a week.', schema: HeatMap, headers: positionHeader },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query }) {
      const period = periodOf(query, service.clock());
      const code = await requireCode(service, caller, id);
      const { table, found } = await readWarehouse(service, caller, (reading) =>
        readHeatMap(reading, scansOfCode(code, period, query)),
      );
      const response = { qr_id: code.id, period: presentPeriod(period), data: everyHour(found) };
      return json(200, response, positionOf(service, table));
    },
  }),
  operation({
    operationId: 'getAccountHeatMap',
    method: 'GET',
    path: '/v1/analytics/heatmap',
    tag,
    summary: `${summary}, over all codes`,
    description: `${description} Covers all codes of the account in the mode of the key, or those in \`qr_id\`.`,
    query: t.Object(accountQuery),
    success: { status: 200, description: 'The hours of a week.', schema: AccountHeatMap, headers: positionHeader },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, query }) {
      const period = periodOf(query, service.clock());
      const codes = await selectedCodes(service, caller, query);
      const { table, found } = await readWarehouse(service, caller, async (reading, inUse) =>
        readHeatMap(reading, await scansOfAccount(service, caller, inUse, { codes, period, query })),
      );
      return json(200, { period: presentPeriod(period), data: everyHour(found) }, positionOf(service, table));
    },
  }),
];

/** All hours from Monday 0 h, including those without scans. */
function everyHour(found: Awaited<ReturnType<typeof readHeatMap>>) {
  const scansIn = new Map(found.map(({ weekday, hour, scans }) => [weekday * 24 + hour, scans]));
  return Array.from({ length: 7 * 24 }, (_, i) => {
    const [weekday, hour] = [Math.floor(i / 24) + 1, i % 24];
    return { weekday, hour, total_scans: scansIn.get(weekday * 24 + hour) ?? 0 };
  });
}
