import type { Static } from '@sinclair/typebox';
import type { AppLinks, Domain, DomainSettings } from '../../../events/domain.ts';
import { problemWithDestination } from '../../../events/fields.ts';
import { refuseBlocked } from '../../codes/blocked-hosts.ts';
import type { Addresses } from '../../config/config.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import type { Sql } from '../../lib/sql.ts';
import { type DomainChange, maxAppLinksBytes } from './domain-schemas.ts';

const urlFields = ['root_url', 'not_found_url', 'expired_url'] as const;
/** No file of the platforms is nested this deep, and Postgres refuses JSON that is nested thousands of times. */
const maxDepth = 16;

/** Checks a change of settings by the rules of destinations; throws 400 with every invalid field. */
export async function readSettings(
  { sql, addresses }: { sql: Sql; addresses: Addresses },
  domain: Domain,
  { primary, ...given }: Static<typeof DomainChange>,
): Promise<Partial<DomainSettings> & { primary?: boolean }> {
  const urls = urlFields.flatMap((field) => (given[field] ? [{ field, url: given[field] }] : []));
  const own = [...addresses.ownUrls, originOf(domain.name, addresses)];
  const problems = urls.map(({ field, url }) => ({ field, problem: problemWithDestination(url, ...own) }));
  const appLinksProblem = given.app_links ? problemWithAppLinks(given.app_links) : undefined;
  const errors = [...problems, { field: 'app_links', problem: appLinksProblem }].flatMap(
    ({ field, problem }): FieldError[] => (problem === undefined ? [] : [{ field, message: `${field} ${problem}.` }]),
  );
  const [first, ...rest] = errors;
  if (first !== undefined) throw invalid([first, ...rest]);
  await refuseBlocked(sql, urls);
  return { ...given, ...(primary === undefined ? {} : { primary }) };
}

/** The origin of the links of a domain: what it leads to by itself would lead back. */
function originOf(name: string, { shortBaseUrl }: Addresses): string {
  const url = new URL(shortBaseUrl);
  url.hostname = name;
  return url.origin;
}

function problemWithAppLinks(appLinks: AppLinks): string | undefined {
  if (!isStorable(appLinks, 0))
    return `must not be nested deeper than ${maxDepth} times, or contain NUL or half of a character`;
  return Buffer.byteLength(JSON.stringify(appLinks)) > maxAppLinksBytes
    ? `must have at most ${maxAppLinksBytes / 1024} KiB as JSON`
    : undefined;
}

/** Whether Postgres can store it as JSON. */
function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\u0000');
  if (typeof value !== 'object' || value === null) return true;
  return (
    depth < maxDepth &&
    Object.entries(value).every(([key, inner]) => isStorable(key, depth) && isStorable(inner, depth + 1))
  );
}
