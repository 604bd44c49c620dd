import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { type Chunk, type ExportCursor, type ExportFormat, readChunk } from '../../analytics/export.ts';
import { readTimeoutMs } from '../../analytics/reading.ts';
import type { Selection } from '../../analytics/selection.ts';
import { retryLater } from '../../lib/errors.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { periodOf, periodQuery, presentPeriod } from './period.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { ExportFile } from './schemas.ts';

/** About 2 MB. An export holds one chunk in memory, whatever its length. */
const chunkRows = 20_000;

const columns = 'id,timestamp,country,region,city,device,browser,is_unique';

const mediaTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** Text before the scans, between two chunks, and after the scans. */
interface Frame {
  head: string;
  between: string;
  tail: string;
}

const frames: Record<ExportFormat, (header: object) => Frame> = {
  csv: () => ({ head: `${columns}\r\n`, between: '', tail: '' }),
  json: (header) => ({ head: `${JSON.stringify(header).slice(0, -1)},"data":[`, between: ',', tail: ']}' }),
};

export const exportOperation = (service: Service): Operation =>
  operation({
    operationId: 'exportScans',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/export',
    tag,
    summary: 'Export analytics',
    description:
      'Every scan of the period, oldest first, as a file of any size. CSV follows RFC 4180, in UTF-8; text that a spreadsheet would interpret as a formula is prefixed with an apostrophe. If an export fails part-way, the service closes the connection: a response that ends normally is complete.',
    params: codeParams,
    query: t.Object({
      ...periodQuery,
      format: t.Optional(oneOf(['csv', 'json'], { default: 'csv', description: 'File format.' })),
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
      const code = await requireCode(service, caller, id);
      const chunks = new Chunks(service, scansOfCode(code, period, query), format);
      // If the code was deleted during the export, its scans may have been removed before they were read.
      const checkNotDeleted = () => requireCode(service, caller, id);
      // Before the response begins, so that an unavailable warehouse is answered with 503.
      const { table, found: first } = await chunks.read([]);
      if (isLast(first)) await checkNotDeleted();
      const frame = frames[format]({ qr_id: code.id, period: presentPeriod(period) });
      return {
        status: 200,
        pieces: pieces(chunks, first, frame, { signal, checkNotDeleted }),
        headers: {
          'content-type': mediaTypes[format],
          'content-disposition': `attachment; filename="${code.id}-scans.${format}"`,
          ...positionOf(service, table),
        },
      };
    },
  });

/** The scans of an export, read chunk by chunk. */
class Chunks {
  readonly #service: Service;
  readonly #selection: Selection;
  readonly #format: ExportFormat;
  /** Position of the log when the export began: later scans are left out. */
  #upTo: number | undefined;

  constructor(service: Service, selection: Selection, format: ExportFormat) {
    this.#service = service;
    this.#selection = selection;
    this.#format = format;
  }

  /** The first chunk, or the one after the cursor `after`. */
  read(signals: AbortSignal[], after?: ExportCursor) {
    return readWarehouse(
      this.#service,
      (reading, { position }) => {
        this.#upTo ??= position;
        const upTo = this.#upTo;
        if (position < upTo) throw retryLater('Analytics are being rebuilt from the log: try again in a few seconds.');
        return readChunk(reading, this.#selection, { format: this.#format, upTo, after, limit: chunkRows });
      },
      AbortSignal.any([...signals, AbortSignal.timeout(readTimeoutMs)]),
    );
  }
}

const isLast = ({ rows }: Chunk) => rows < chunkRows;

/** The pieces of the file, the first chunk of which is read already. */
async function* pieces(
  chunks: Chunks,
  first: Chunk,
  { head, between, tail }: Frame,
  { signal, checkNotDeleted }: { signal: AbortSignal; checkNotDeleted(): Promise<unknown> },
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head);
  let chunk = first;
  if (chunk.rows > 0) yield* chunk.text;
  while (!isLast(chunk)) {
    chunk = (await chunks.read([signal], chunk.last)).found;
    if (chunk.rows === 0) break;
    if (between !== '') yield Buffer.from(between);
    yield* chunk.text;
  }
  // The check of a single chunk was made before the response began.
  if (!isLast(first)) await checkNotDeleted();
  if (tail !== '') yield Buffer.from(tail);
}
