import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { Refusal } from '../../lib/errors.ts';
import { type Chunk, type ExportCursor, type ExportFormat, readChunk } from '../../warehouse/export.ts';
import { readTimeoutMs } from '../../warehouse/reading.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { periodOf, periodQuery, presentPeriod } from './period.ts';
import { codeParams, fromWarehouse, ofCode, ownCode, positionHeader, positionOf, tag } from './reading.ts';
import { ExportFile } from './schemas.ts';

/** About 2 MB: what an export holds in memory, however long it is. */
const chunkRows = 20_000;

const columns = 'id,timestamp,country,region,city,device,browser,is_unique';

const mediaTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** What stands around the scans of a file, and between their chunks. */
const frames = {
  csv: () => ({ head: `${columns}\r\n`, between: '', tail: '' }),
  json: (about: object) => ({ head: `${JSON.stringify(about).slice(0, -1)},"data":[`, between: ',', tail: ']}' }),
};

export const exportOperation = (service: Service): Operation =>
  operation({
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/export',
    tag,
    summary: 'Export analytics',
    description:
      'Every scan of the period, the oldest first, as a file of any size. CSV is as RFC 4180 has it, in UTF-8; text that a spreadsheet would take for a formula has an apostrophe before it. An export that cannot be finished breaks the connection off: a file that ends well is whole.',
    params: codeParams,
    query: t.Object({
      ...periodQuery,
      format: t.Optional(oneOf(['csv', 'json'], { default: 'csv', description: 'Kind of file.' })),
    }),
    success: {
      status: 200,
      description: 'The file.',
      files: ['text/csv'],
      schema: ExportFile,
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query, signal }) {
      const { format = 'csv' } = query;
      const period = periodOf(query, service.clock());
      const code = await ownCode(service, caller, id);
      const selection = ofCode(code, period, query);

      /** What the log had when the export began is in it, and nothing that came later. */
      let upTo: number | undefined;
      const next = (gone: AbortSignal[], after?: ExportCursor) =>
        fromWarehouse(
          service,
          (reading, { position }) => {
            upTo ??= position;
            if (position < upTo) throw new Refusal('unavailable', 'Analytics are being made again from the log.');
            return readChunk(reading, selection, { format, upTo, after, limit: chunkRows });
          },
          AbortSignal.any([...gone, AbortSignal.timeout(readTimeoutMs)]),
        );
      // The first before anything is answered, so that a warehouse that is away is told as such.
      const { table, found: first } = await next([]);
      // Deleted meanwhile, its scans may have left the warehouse before they were read.
      const stillThere = () => ownCode(service, caller, id);
      const isShort = first.rows < chunkRows;
      if (isShort) await stillThere();

      const { head, between, tail } = frames[format]({ qr_id: code.id, period: presentPeriod(period) });
      async function* pieces(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(head);
        let chunk: Chunk = first;
        if (chunk.rows > 0) yield* chunk.text;
        while (chunk.rows === chunkRows) {
          chunk = (await next([signal], chunk.last)).found;
          if (chunk.rows === 0) break;
          if (between !== '') yield Buffer.from(between);
          yield* chunk.text;
        }
        if (!isShort) await stillThere();
        if (tail !== '') yield Buffer.from(tail);
      }
      return {
        status: 200,
        pieces: pieces(),
        headers: {
          'content-type': mediaTypes[format],
          'content-disposition': `attachment; filename="${code.id}-scans.${format}"`,
          ...positionOf(service, table),
        },
      };
    },
  });
