import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import {
  type Chunk,
  type ChunkOptions,
  type ExportCursor,
  type ExportFormat,
  readChunk,
} from '../../analytics/export.ts';
import type { Selection } from '../../analytics/selection.ts';
import type { TableInUse } from '../../analytics/table-in-use.ts';
import { retryLater } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import type { StreamedAnswer } from '../answers.ts';
import { type Operation, operation } from '../operation.ts';
import type { Service } from '../service.ts';
import { accountQuery, scansOfAccount, selectedCodes } from './account.ts';
import { LeadUrls } from './export-urls.ts';
import { analyticsQuery } from './filters.ts';
import { periodOf, presentPeriod } from './period.ts';
import { codeParams, positionHeader, positionOf, readWarehouse, requireCode, scansOfCode, tag } from './reading.ts';
import { AccountExportFile, ExportFile } from './schemas.ts';

/** About 2 MB. An export holds one chunk in memory, whatever its length. */
const chunkRows = 20_000;

const contractColumns = 'id,timestamp,country,region,city,device,browser,is_unique';
const allColumns = `${contractColumns},is_bot,rule,variant,destination_url`;

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

const frames: Record<ExportFormat, (header: object, columns: string) => Frame> = {
  csv: (_, columns) => ({ head: `${columns}\r\n`, between: '', tail: '' }),
  json: (header) => ({ head: `${JSON.stringify(header).slice(0, -1)},"data":[`, between: ',', tail: ']}' }),
};

const formatQuery = {
  format: t.Optional(oneOf(['csv', 'json'], { default: 'csv', description: 'File format.' })),
};

const columnsQuery = {
  columns: t.Optional(
    oneOf(['all'], {
      description: 'Columns of a CSV file: `all` adds `is_bot`, `rule`, `variant` and `destination_url`.',
    }),
  ),
};

const description =
  'Every scan of the period, oldest first, as a file of any size. CSV follows RFC 4180, in UTF-8; text that a spreadsheet would interpret as a formula is prefixed with an apostrophe. If an export fails part-way, the service closes the connection: a response that ends normally is complete.';

export const exportOperations = (service: Service): Operation[] => [
  operation({
    operationId: 'exportScans',
    method: 'GET',
    path: '/v1/qrcodes/:id/analytics/export',
    tag,
    summary: 'Export analytics',
    description,
    params: codeParams,
    query: t.Object({ ...analyticsQuery, ...formatQuery, ...columnsQuery }),
    success: {
      status: 200,
      description: 'The file.',
      files: ['text/csv'],
      schema: ExportFile,
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query, signal }) {
      const period = periodOf(query, service.clock());
      const code = await requireCode(service, caller, id);
      return exported(service, {
        ...columnsOf(query),
        withCode: false,
        name: `${code.id}-scans`,
        header: { qr_id: code.id, period: presentPeriod(period) },
        select: async () => scansOfCode(code, period, query),
        // If the code was deleted during the export, its scans may have been removed before they were read.
        checkEnd: async () => void (await requireCode(service, caller, id)),
        signal,
      });
    },
  }),
  operation({
    operationId: 'exportAccountScans',
    method: 'GET',
    path: '/v1/analytics/export',
    tag,
    summary: 'Export the scans of all codes',
    description: `${description} Covers all codes of the account in the mode of the key, or those in \`qr_id\`, which is the first column. Scans of a code that is deleted during the export may be missing.`,
    query: t.Object({ ...accountQuery, ...formatQuery, ...columnsQuery }),
    success: {
      status: 200,
      description: 'The file.',
      files: ['text/csv'],
      schema: AccountExportFile,
      headers: positionHeader,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, query, signal }) {
      const period = periodOf(query, service.clock());
      const codes = await selectedCodes(service, caller, query);
      return exported(service, {
        ...columnsOf(query),
        withCode: true,
        name: 'scans',
        header: { period: presentPeriod(period) },
        select: (table) => scansOfAccount(service, caller, table, { codes, period, query }),
        checkEnd: async () => {},
        signal,
      });
    },
  }),
];

/** JSON has everything but the URL in each scan, whatever `columns` is. */
const columnsOf = ({ format = 'csv', columns }: { format?: ExportFormat; columns?: 'all' }) => ({
  format,
  withLeads: format === 'csv' && columns === 'all',
});

interface Export extends Pick<ChunkOptions, 'format' | 'withCode' | 'withLeads'> {
  /** File name without extension. */
  name: string;
  /** Fields of the JSON file before the scans. */
  header: object;
  select(table: TableInUse): Promise<Selection>;
  /** Called after the last read, before the end of the file; throws if scans may be missing. */
  checkEnd(): Promise<void>;
  signal: AbortSignal;
}

/** Reads the first chunk, and streams the file from there. */
async function exported(service: Service, file: Export): Promise<StreamedAnswer> {
  const { format, withCode, withLeads, name, header } = file;
  const columns = [...(withCode ? ['qr_id'] : []), withLeads ? allColumns : contractColumns].join();
  const chunks = new Chunks(service, file);
  // Before the response begins, so that an unavailable warehouse is answered with 503.
  const { table, found: first } = await chunks.read([]);
  if (isLast(first)) await file.checkEnd();
  return {
    status: 200,
    pieces: pieces(
      chunks,
      first,
      frames[format](header, columns),
      file,
      withLeads ? new LeadUrls(service.sql) : undefined,
    ),
    headers: {
      'content-type': mediaTypes[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      ...positionOf(service, table),
    },
  };
}

/** The scans of an export, read chunk by chunk. */
class Chunks {
  readonly #service: Service;
  readonly #file: Export;
  /** Position of the log when the export began: later scans are left out. */
  #upTo: number | undefined;

  constructor(service: Service, file: Export) {
    this.#service = service;
    this.#file = file;
  }

  /** The first chunk, or the one after the cursor `after`. */
  read(signals: AbortSignal[], after?: ExportCursor) {
    const { format, withCode, withLeads, select } = this.#file;
    return readWarehouse(
      this.#service,
      async (reading, table) => {
        this.#upTo ??= table.position;
        const upTo = this.#upTo;
        if (table.position < upTo)
          throw retryLater('Analytics are being rebuilt from the log: try again in a few seconds.');
        return readChunk(reading, await select(table), { format, withCode, withLeads, upTo, after, limit: chunkRows });
      },
      AbortSignal.any([...signals, AbortSignal.timeout(timeouts.analyticsReadMs)]),
    );
  }
}

const isLast = ({ rows }: Chunk) => rows < chunkRows;

/** The pieces of the file, the first chunk of which is read already. */
async function* pieces(
  chunks: Chunks,
  first: Chunk,
  { head, between, tail }: Frame,
  { signal, checkEnd }: Pick<Export, 'signal' | 'checkEnd'>,
  urls: LeadUrls | undefined,
): AsyncGenerator<Uint8Array> {
  const textOf = ({ text }: Chunk) => urls?.complete(text) ?? text;
  yield Buffer.from(head);
  let chunk = first;
  if (chunk.rows > 0) yield* textOf(chunk);
  while (!isLast(chunk)) {
    chunk = (await chunks.read([signal], chunk.last)).found;
    if (chunk.rows === 0) break;
    if (between !== '') yield Buffer.from(between);
    yield* textOf(chunk);
  }
  // The check of a single chunk was made before the response began.
  if (!isLast(first)) await checkEnd();
  if (tail !== '') yield Buffer.from(tail);
}
