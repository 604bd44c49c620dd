import { readHost } from '../../events/hosts.ts';
import { linkOf } from '../../events/link.ts';
import { operator } from '../../events/recorded.ts';
import { findAccount } from '../accounts/accounts.ts';
import { activeDomains } from '../codes/domains.ts';
import { addressesOf } from '../config/config.ts';
import { importLinks, type Outcome } from '../imports/import.ts';
import { readLinks } from '../imports/read-links.ts';
import type { SourceName } from '../imports/source-names.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { findRunning } from '../stack/data-directory.ts';
import { noAccount } from './account.ts';
import { boxOf, findConfig, withDatabase } from './connection.ts';
import { progressLine } from './progress.ts';
import { counted, print, printJson } from './terminal.ts';

interface Options {
  account: string;
  domain?: string;
  key?: string;
  partial?: boolean;
  dryRun?: boolean;
  json?: boolean;
  data: string;
}

/** Imports the links of another service; sets the exit code to 1 if one could not be taken as a whole. */
export async function importCommand(source: SourceName, from: string, options: Options): Promise<void> {
  const totals = await withDatabase(options.data, (sql) => run(sql, source, from, options));
  const { imported, unchanged, refused, incomplete, unlisted } = totals;
  if (options.json) printJson({ dry_run: options.dryRun === true, ...totals });
  else {
    const verb = options.dryRun ? 'would be imported' : 'imported';
    print(`${counted(imported, 'link')} ${verb}, ${unchanged} imported before, ${refused} not possible.`);
    if (incomplete > 0) print(`${counted(incomplete, 'link')} of these came without a part, as listed above.`);
    if (unlisted > 0)
      print(`The service has ${counted(unlisted, 'link')} that its list did not contain: run the command again.`);
  }
  if (refused + incomplete + unlisted > 0) process.exitCode = 1;
}

interface Totals {
  imported: number;
  /** Imported by an earlier run. */
  unchanged: number;
  refused: number;
  /** Imported without a part. */
  incomplete: number;
  /** Links that the source counts and did not list: others were created or deleted while it was read. */
  unlisted: number;
}

async function run(sql: Sql, source: SourceName, from: string, options: Options): Promise<Totals> {
  const account = await findAccount(sql, options.account);
  if (account === undefined) throw noAccount(options.account);
  const domains = await activeDomains(sql, account.id);
  const domain = options.domain === undefined ? undefined : (readHost(options.domain) ?? options.domain);
  if (domain !== undefined && !domains.has(domain))
    throw new StartError(`${domain} is not an active domain of ${account.id}: add and verify it first.`);

  const line = progressLine();
  const note = (text: string) => {
    line.clear();
    process.stderr.write(`${text}\n`);
  };
  const pages = readLinks({
    source,
    from,
    key: options.key ?? (process.env['IMPORT_KEY'] || undefined),
    onPause: (seconds, reason) => note(`The API ${reason}: continuing in ${seconds} s.`),
    onUnread: (titles) => note(`These columns are not read: ${titles.join(', ')}.`),
  });
  const box = await boxOf(sql, options.data);
  const totals: Totals = { imported: 0, unchanged: 0, refused: 0, incomplete: 0, unlisted: 0 };
  const batches = importLinks({ sql, box }, pages, {
    owner: { account: account.id, mode: 'live' },
    source,
    actor: operator,
    isDryRun: options.dryRun === true,
    clock: () => new Date(),
    ownUrls: ownUrlsOf(options.data),
    domain,
    domains,
    isPartial: options.partial === true,
  });
  for await (const { outcomes, total } of batches) {
    line.clear();
    for (const outcome of outcomes) {
      totals[outcome.outcome]++;
      if (outcome.outcome === 'imported' && outcome.leftOut.length > 0) totals.incomplete++;
      report(outcome, options);
    }
    const read = totals.imported + totals.unchanged + totals.refused;
    totals.unlisted = Math.max(0, (total ?? 0) - read);
    line.update(`${counted(read, 'link')} read${total === undefined ? '' : ` of ${total.toLocaleString('en')}`}`);
  }
  line.clear();
  return totals;
}

/** Addresses of the service, where no code may lead. */
function ownUrlsOf(data: string): string[] {
  const config = findConfig(data);
  const publicUrl = config.publicUrl ?? findRunning(data)?.publicUrl;
  return addressesOf({ ...config, publicUrl }, config.port).ownUrls;
}

/** Prints what could not be taken, in a dry run also what would be; one line each, so that any number fits in memory. */
function report(result: Outcome, { dryRun, json }: Options): void {
  const { outcome, link } = result;
  if (outcome === 'unchanged') return;
  const reasons = outcome === 'refused' ? result.reasons : result.leftOut;
  if (outcome === 'imported' && reasons.length === 0 && !dryRun) return;
  const code = outcome === 'imported' ? becomes(result.request) : null;
  if (json) return void printJson({ link: link.id, destination_url: link.destination, outcome, code, reasons });
  const what = outcome === 'refused' ? 'not possible' : dryRun ? 'would import' : 'imported';
  const as = code === null ? '' : ` as ${code}`;
  const why = reasons.length === 0 ? '' : `: ${outcome === 'imported' ? 'without a part, ' : ''}${reasons.join('; ')}`;
  print(`${what}  ${link.id}${as} → ${link.destination}${why}`);
}

const becomes = ({ domain, short_code }: { domain?: string | undefined; short_code?: string | undefined }) =>
  short_code === undefined ? 'a new short code' : linkOf(domain, short_code);
