import { Type as t } from '@sinclair/typebox';
import { readScans } from '../../analytics/scans.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { pageOf, pageQuery } from '../http/schemas.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';
import { accountQuery, scansOfAccount, selectedCodes } from './account.ts';
import { analyticsQuery } from './filters.ts';
import { periodOf } from './period.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { OwnedScanRecord, ScanRecord } from './schemas.ts';

const pages = pageQuery({ default: 50, maximum: 500 });

export const scansOperations = (service: Service): Operation[] => [
  operation({
    operationId: 'listScans',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/scans',
    tag,
    summary: 'Individual scans',
    description: 'Every scan of the period, newest first.',
    params: codeParams,
    query: t.Object({ ...analyticsQuery, ...pages }),
    success: {
      status: 200,
      description: 'One page of scans.',
      schema: pageOf(ScanRecord),
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query }) {
      const { page = 1, limit = 50 } = query;
      const period = periodOf(query, service.clock());
      const code = await requireCode(service, caller, id);
      const { table, found } = await readWarehouse(service, caller, (reading) =>
        readScans(reading, scansOfCode(code, period, query), { offset: (page - 1) * limit, limit }),
      );
      const scans = found.scans.map(({ qr_id: _, ...scan }) => scan);
      return json(200, presentPage(scans, { page, limit }, found.total), positionOf(service, table));
    },
  }),
  operation({
    operationId: 'listAccountScans',
    method: 'GET',
    path: '/v1/analytics/scans',
    tag,
    summary: 'Individual scans of all codes',
    description:
      'Every scan of the period, newest first, of all codes of the account in the mode of the key, or of those in `qr_id`.',
    query: t.Object({ ...accountQuery, ...pages }),
    success: {
      status: 200,
      description: 'One page of scans.',
      schema: pageOf(OwnedScanRecord),
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, query }) {
      const { page = 1, limit = 50 } = query;
      const period = periodOf(query, service.clock());
      const codes = await selectedCodes(service, caller, query);
      const { table, found } = await readWarehouse(service, caller, async (reading, inUse) => {
        const selection = await scansOfAccount(service, caller, inUse, { codes, period, query });
        return readScans(reading, selection, { offset: (page - 1) * limit, limit });
      });
      return json(200, presentPage(found.scans, { page, limit }, found.total), positionOf(service, table));
    },
  }),
];
