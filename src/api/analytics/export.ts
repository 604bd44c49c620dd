import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { type Caller, requireStillAdmitted } from '../../accounts/admission.ts';
import type { Chunk, ExportFormat } from '../../analytics/export.ts';
import { retryLater } from '../../lib/errors.ts';
import { LimitPerKey } from '../../lib/limit-per-key.ts';
import { type Operation, operation } from '../http/operation.ts';
import type { StreamedResponse } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { accountQuery, scansOfAccount, selectedCodes } from './account.ts';
import { Chunks, type ExportedScans } from './export-chunks.ts';
import { ExportColumns } from './export-columns.ts';
import { analyticsQuery } from './filters.ts';
import { periodOf, presentPeriod } from './period.ts';
import { codeParams, positionHeader, requireCode, scansOfCode, tag } from './reading.ts';
import { AccountExportFile, ExportFile } from './schemas.ts';

const contractColumns = 'id,timestamp,country,region,city,device,browser,is_unique';
const allColumns = `${contractColumns},is_bot,rule,variant,destination_url,name,tags,domain`;

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
      description:
        '`all` adds `is_bot`, `rule`, `variant` and `destination_url`, where the scan led, the present `name` and `tags` of the code, and its custom `domain`. Tags in a CSV file are separated by `; `. A JSON file has bot flag, rule and variant anyway.',
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
        owner: caller,
        withCode: false,
        name: `${code.id}-scans`,
        header: { qr_id: code.id, period: presentPeriod(period) },
        select: async () => scansOfCode(code, period, query),
        // If the code was deleted during the export, its scans may have been removed before they were read.
        checkEnd: async () => void (await requireCode(service, caller, id)),
        caller,
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
        owner: caller,
        withCode: true,
        name: 'scans',
        header: { period: presentPeriod(period) },
        select: (table) => scansOfAccount(service, caller, table, { codes, period, query }),
        checkEnd: async () => {},
        caller,
        signal,
      });
    },
  }),
];

const columnsOf = ({ format = 'csv', columns }: { format?: ExportFormat; columns?: 'all' }) => ({
  format,
  withLeads: columns === 'all',
});

interface Export extends ExportedScans {
  /** File name without extension. */
  name: string;
  /** Fields of the JSON file before the scans. */
  header: object;
  /** Called after the last read, before the end of the file; throws if scans may be missing. */
  checkEnd(): Promise<void>;
  caller: Caller;
}

/** Exports of an account at once. Each can hold a chunk, and 16 MiB about its codes, for as long as its client takes to read. */
const maxOpen = 8;
const open = new LimitPerKey(maxOpen, () =>
  retryLater(`The account has ${maxOpen} exports at once, which is the limit: try again when one of them has ended.`),
);

const exported = (service: Service, file: Export): Promise<StreamedResponse> =>
  open.run(file.owner.account, () => begun(service, file));

/** Reads the first chunk, and streams the file from there. */
async function begun(service: Service, file: Export): Promise<StreamedResponse> {
  const { format, withCode, withLeads, name, header } = file;
  const columns = [...(withCode ? ['qr_id'] : []), withLeads ? allColumns : contractColumns].join();
  const chunks = new Chunks(service, file);
  const { sql, clock } = service;
  // Before the response begins, so that an unavailable warehouse is answered with 503.
  const first = await chunks.next();
  if (!(await chunks.hasMore())) await file.checkEnd();
  return {
    status: 200,
    pieces: open.counted(
      file.owner.account,
      pieces(chunks, first, frames[format](header, columns), {
        checkEnd: file.checkEnd,
        checkCaller: () => requireStillAdmitted(sql, file.caller, clock()),
        columns: withLeads ? new ExportColumns(sql, file.owner, format) : undefined,
      }),
    ),
    headers: {
      'content-type': mediaTypes[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      ...chunks.positionHeader(),
    },
  };
}

/** What is needed after the response has begun. */
interface Rest extends Pick<Export, 'checkEnd'> {
  /** Throws when the caller would no longer be admitted: an export can last for hours. */
  checkCaller(): Promise<void>;
  columns: ExportColumns | undefined;
}

/** The pieces of the file, the first chunk of which is read already. */
async function* pieces(
  chunks: Chunks,
  first: Chunk | undefined,
  { head, between, tail }: Frame,
  { checkEnd, checkCaller, columns }: Rest,
): AsyncGenerator<Uint8Array> {
  const textOf = ({ text }: Chunk) => columns?.complete(text) ?? text;
  yield Buffer.from(head);
  if (first !== undefined) yield* textOf(first);
  if (await chunks.hasMore()) {
    for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) {
      await checkCaller();
      if (between !== '') yield Buffer.from(between);
      yield* textOf(chunk);
    }
    // The check of a single chunk was made before the response began.
    await checkEnd();
  }
  if (tail !== '') yield Buffer.from(tail);
}
