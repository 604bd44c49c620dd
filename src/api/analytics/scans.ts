import { Type as t } from '@sinclair/typebox';
import { readScans } from '../../analytics/scans.ts';
import { json } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import { presentPage } from '../present.ts';
import { pageOf, pageQuery } from '../schemas.ts';
import type { Service } from '../service.ts';
import { periodOf, periodQuery } from './period.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { ScanRecord } from './schemas.ts';

export const scansOperation = (service: Service): Operation =>
  operation({
    operationId: 'listScans',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/scans',
    tag,
    summary: 'Individual scans',
    description: 'Every scan of the period, newest first.',
    params: codeParams,
    query: t.Object({ ...periodQuery, ...pageQuery({ default: 50, maximum: 500 }) }),
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
      const { table, found } = await readWarehouse(service, (reading) =>
        readScans(reading, scansOfCode(code, period, query), { offset: (page - 1) * limit, limit }),
      );
      return json(200, presentPage(found.scans, { page, limit }, found.total), positionOf(service, table));
    },
  });
