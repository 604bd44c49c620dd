import { type Static, Type as t } from '@sinclair/typebox';
import { urlOfLink } from '../../../events/link.ts';
import { type CodeFigures as Figures, readCodes } from '../../analytics/codes.ts';
import type { Reading } from '../../analytics/reading.ts';
import type { Selection } from '../../analytics/selection.ts';
import { codesWithIds } from '../../codes/codes.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { pageOf, pageQuery } from '../http/schemas.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';
import { accountQuery, maxSelectedCodes, scansOfAccount, selectedCodes } from './account.ts';
import { compareQuery } from './filters.ts';
import { comparedPeriod, periodOf } from './period.ts';
import { presentCounts } from './present.ts';
import { positionHeader, positionOf, readWarehouse, tag } from './reading.ts';
import { CodeFigures } from './schemas.ts';

export const codesOperation = (service: Service): Operation =>
  operation({
    operationId: 'listCodeAnalytics',
    method: 'GET',
    path: '/v1/analytics/qrcodes',
    tag,
    summary: 'Codes side by side',
    description:
      'Scans and visitors of each code in the period, most scans first; of ties, the oldest code first. Lists the codes in `qr_id`, those without scans last, or else all codes that have scans in the period.',
    query: t.Object({ ...accountQuery, ...compareQuery, ...pageQuery({ default: 20, maximum: 100 }) }),
    success: {
      status: 200,
      description: 'One page of codes.',
      schema: pageOf(CodeFigures),
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, query }) {
      const { page = 1, limit = 20 } = query;
      const now = service.clock();
      const period = periodOf(query, now);
      const before = query.compare && comparedPeriod(period, query.compare, now);
      const selected = await selectedCodes(service, caller, query);
      const slice = { offset: (page - 1) * limit, limit };
      const { table, found } = await readWarehouse(service, caller, async (reading, inUse) => {
        const selection = await scansOfAccount(service, caller, inUse, { codes: selected, period, query });
        const { codes, total } =
          selected === undefined
            ? await readCodes(reading, selection, slice)
            : inPage(
                await readCodes(reading, selection, everySelected),
                selected.map(({ id }) => id),
                slice,
              );
        const previous = before && (await readBefore(reading, { ...selection, ...before }, codes));
        return { codes, total, previous };
      });
      const { codes, total, previous } = found;
      const named = await codesWithIds(
        service.sql,
        caller,
        codes.map(({ code }) => code),
      );
      const data = codes.flatMap((figures): Static<typeof CodeFigures>[] => {
        const code = named.get(figures.code);
        // A code that was deleted after the read has no name.
        if (code === undefined) return [];
        return [
          {
            qr_id: code.id,
            name: code.name,
            short_url: urlOfLink(code.short_code, service.addresses.shortBaseUrl),
            ...present(figures),
            ...(previous && { previous: present(previous.get(code.id) ?? without(code.id)) }),
          },
        ];
      });
      return json(200, presentPage(data, { page, limit }, total), positionOf(service, table));
    },
  });

/** The figures of the same codes for the period before. */
async function readBefore(reading: Reading, before: Selection, codes: Figures[]): Promise<Map<string, Figures>> {
  if (codes.length === 0) return new Map();
  const among = codes.map(({ code }) => code);
  const found = await readCodes(reading, { ...before, codes: { among } }, everySelected);
  return new Map(found.codes.map((figures) => [figures.code, figures]));
}

const everySelected = { offset: 0, limit: maxSelectedCodes };

const without = (code: string): Figures => ({ code, scans: 0, visitors: 0, uniqueScans: 0 });

/** A page of all selected codes: those with scans as they were found, then the others. */
function inPage({ codes }: { codes: Figures[] }, ids: string[], { offset, limit }: { offset: number; limit: number }) {
  const found = new Set(codes.map(({ code }) => code));
  const all = [...codes, ...ids.filter((id) => !found.has(id)).map(without)];
  return { codes: all.slice(offset, offset + limit), total: all.length };
}

const present = ({ scans, visitors, uniqueScans }: Figures) => ({
  ...presentCounts({ scans, visitors }),
  unique_scans: uniqueScans,
});
