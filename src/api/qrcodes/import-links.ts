import { Type as t } from '@sinclair/typebox';
import { linkOf, urlOfLink } from '../../../events/link.ts';
import { oneOf } from '../../../events/one-of.ts';
import { type Caller, requireStillAdmitted } from '../../accounts/admission.ts';
import { activeDomains } from '../../codes/domains.ts';
import { importLinks, type Outcome } from '../../imports/import.ts';
import { sourceNames } from '../../imports/source-names.ts';
import { maxUploadedLinks, readUploaded, type UploadedFile, type UploadedLinks } from '../../imports/uploaded.ts';
import { invalid, Refusal, retryLater, StartError } from '../../lib/errors.ts';
import { readBytes } from '../http/body.ts';
import { type Operation, operation } from '../http/operation.ts';
import { started } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { domainIn } from './domain-query.ts';

const maxFileBytes = 4 * 1024 * 1024;
/** Imports of a process that run at a time: each has up to 10,000 links in memory, about 10 MB. */
const maxRunning = 8;

const mediaTypes = ['text/csv', 'application/json'] as const;

const query = t.Object({
  source: t.Optional(
    oneOf(sourceNames, {
      description:
        'The service that the file is from; `csv` is any other table. Without it, the titles of the columns or the fields of the JSON decide.',
    }),
  ),
  domain: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 255,
      description:
        'The custom domain of the account that all links come to. Without it, each stays on its domain if that is one of the account, and otherwise comes to the domain of the service.',
      examples: ['go.example.com'],
      'x-expected': 'the name of a domain',
    }),
  ),
  partial: t.Optional(
    t.Boolean({
      default: false,
      description: 'Whether to import a link also without what Scanlog has no equivalent for, such as an A/B test.',
    }),
  ),
  dry_run: t.Optional(t.Boolean({ default: false, description: 'Whether to check everything and create nothing.' })),
});

/** An operation that creates codes from the export of another service. */
export function importOperation(service: Service): Operation {
  const running = new Set<string>();
  return operation({
    operationId: 'importLinks',
    method: 'POST',
    path: '/v1/qrcodes/import',
    tag: 'QR codes',
    summary: 'Import links of another service',
    description: `Creates codes from an export of Bitly, Dub, Shlink, Kutt, YOURLS, Rebrandly, Short.io or any table with titles in its first row: CSV, or JSON with entries as the API of the service returns them, of at most 4 MiB and ${maxUploadedLinks.toLocaleString('en')} links. Every link keeps its short code.

The answer has one JSON object a line, as soon as its batch of 100 links is done: \`link\`, \`destination_url\`, \`outcome\` (\`imported\`, \`unchanged\` if an earlier import has it, or \`refused\`), \`qr_id\`, \`short_url\`, and \`reasons\`: why the link is refused, or what it came without. The last line has \`source\`, \`dry_run\`, the numbers \`imported\`, \`unchanged\`, \`refused\` and \`incomplete\`, and \`unread_columns\`. If an import fails part-way, the service closes the connection: an answer without the last line is not complete. Send the file again to continue; what was imported stays and does not come twice. An account can run one import at a time.`,
    query,
    upload: [...mediaTypes],
    uploadExample: [{ address: 'menu', target: 'https://example.com/menu', description: 'Menu', visit_count: 42 }],
    readBody: readFile,
    success: { status: 200, description: 'What became of each link.', files: ['application/x-ndjson'] },
    errors: ['invalid_request', 'live_key_required', 'not_found', 'conflict'],
    async handle({ caller, query: { source, domain, partial = false, dry_run = false }, body, signal }) {
      // Short codes are never reassigned: those of a trial in test mode would be lost.
      if (caller.mode === 'test')
        throw new Refusal('live_key_required', 'An import needs a live key: with dry_run it creates nothing.');
      const lines = linesOf(service, running, {
        caller,
        file: body as UploadedFile,
        source,
        domain: domainIn({ domain }),
        isPartial: partial,
        isDryRun: dry_run,
      });
      // Ends it after the present batch, also if the client has gone before the answer is read.
      signal.addEventListener('abort', () => void lines.return(undefined), { once: true });
      return {
        status: 200,
        // What is wrong with the file is answered with 400.
        pieces: await started(lines),
        headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
      };
    },
  });
}

async function readFile(request: Request): Promise<UploadedFile> {
  const type = (request.headers.get('content-type') ?? '').replace(/;.*$/s, '').trim().toLowerCase();
  const mediaType = mediaTypes.find((name) => name === type);
  if (mediaType === undefined)
    throw new Refusal('unsupported_media_type', `The Content-Type must be ${mediaTypes.join(' or ')}.`);
  const tooLarge = () =>
    new Refusal('payload_too_large', 'The file must have at most 4 MiB: split it, or ask the operator to import it.');
  return { bytes: await readBytes(request, maxFileBytes, tooLarge), isJson: mediaType === 'application/json' };
}

interface Import {
  caller: Caller;
  file: UploadedFile;
  source: UploadedLinks['source'] | undefined;
  domain: string | undefined;
  isPartial: boolean;
  isDryRun: boolean;
}

/** Imports the links, and yields what became of each batch. */
async function* linesOf(service: Service, running: Set<string>, options: Import): AsyncGenerator<Uint8Array> {
  const { caller, isDryRun } = options;
  if (running.has(caller.account))
    throw new Refusal('conflict', 'Another import of this account is running: wait until it has ended.');
  if (running.size >= maxRunning) throw retryLater('Too many imports are running: try again in a moment.');
  running.add(caller.account);
  try {
    const { source, links, unread } = await readUploaded(options.file, options.source).catch((error) => {
      throw error instanceof StartError ? invalid([{ field: 'body', message: error.message }]) : error;
    });
    const totals = { imported: 0, unchanged: 0, refused: 0, incomplete: 0 };
    for await (const { outcomes } of batches(service, options, { source, links })) {
      for (const outcome of outcomes) {
        totals[outcome.outcome]++;
        if (outcome.outcome === 'imported' && outcome.leftOut.length > 0) totals.incomplete++;
      }
      yield encoded(outcomes.map((outcome) => presentOutcome(outcome, service.addresses.shortBaseUrl)));
      await requireStillAdmitted(service.sql, caller, service.clock());
    }
    yield encoded([{ source, dry_run: isDryRun, ...totals, unread_columns: unread }]);
  } finally {
    running.delete(caller.account);
  }
}

async function* batches(
  { sql, clock, addresses, limits, webhooks: { box }, onChange }: Service,
  { caller, domain, isPartial, isDryRun }: Import,
  { source, links }: Pick<UploadedLinks, 'source' | 'links'>,
) {
  const domains = await activeDomains(sql, caller.account);
  if (domain !== undefined && !domains.has(domain))
    throw invalid([{ field: 'domain', message: `${domain} is not an active domain of this account.` }]);
  const pages = (async function* () {
    yield { links };
  })();
  yield* importLinks({ sql, box }, pages, {
    owner: caller,
    source,
    actor: caller.actor,
    limits,
    isDryRun,
    clock,
    onCreated: onChange,
    ownUrls: addresses.ownUrls,
    domain,
    domains,
    isPartial,
  });
}

function presentOutcome(result: Outcome, shortBaseUrl: string) {
  const { outcome, link } = result;
  const { domain, short_code } = outcome === 'imported' ? result.request : {};
  return {
    link: link.id,
    destination_url: link.destination,
    outcome,
    qr_id: outcome === 'refused' ? null : (result.code ?? null),
    short_url: short_code === undefined ? null : urlOfLink(linkOf(domain, short_code), shortBaseUrl),
    reasons: outcome === 'refused' ? result.reasons : outcome === 'imported' ? result.leftOut : [],
  };
}

const encoded = (lines: object[]): Uint8Array => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
