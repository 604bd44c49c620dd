import type { OptionalChange } from '../../events/code-fields.ts';
import { problemWithDestination } from '../../events/fields.ts';
import { readFields } from '../../events/read-fields.ts';
import { problemWithShortCode } from '../../events/reserved-words.ts';
import type { CodeRequest } from '../codes/create.ts';
import type { SourceLink } from './link.ts';
import { readTime } from './times.ts';

/** A link and the code that it becomes. */
export interface Planned {
  link: SourceLink;
  request: CodeRequest;
  /** What the code comes without. */
  leftOut: string[];
}

/** A link that is not taken, and why. */
export interface Refused {
  link: SourceLink;
  reasons: string[];
}

export interface PlanOptions {
  /** Addresses of this service, which no code may lead to. */
  ownUrls: readonly string[];
  /** The custom domain for all links; undefined for the domain of each. */
  domain: string | undefined;
  /** The active custom domains of the account. */
  domains: ReadonlySet<string>;
  /** Takes a link without what is not supported. */
  isPartial: boolean;
}

/** Longer than any host with a short code; what is stored about a link must fit in an index. */
const maxIdLength = 400;

/** The code that a link becomes, or every reason for which it cannot become one. */
export function planLink(link: SourceLink, { ownUrls, domain, domains, isPartial }: PlanOptions): Planned | Refused {
  if (link.closed !== undefined) return { link, reasons: [link.closed] };
  const reasons: string[] = [];
  const leftOut: string[] = [];
  const unsupported = isPartial ? leftOut : reasons;
  unsupported.push(...link.unsupported);
  const add = (field: string, problem: string | undefined) => {
    if (problem !== undefined) reasons.push(`${field} ${problem}`);
  };
  add('destination', problemWithDestination(link.destination, ...ownUrls));
  if (link.id.length > maxIdLength) reasons.push(`its short link has more than ${maxIdLength} characters`);
  if (link.shortCode !== undefined) add(`short code "${link.shortCode}"`, problemWithShortCode(link.shortCode));
  const optional = readOptional(link, ownUrls, { reasons, leftOut, unsupported });
  const { createdAt } = link;
  const created_at = readTime(createdAt);
  if (isGiven(createdAt) && created_at === undefined) leftOut.push(`creation time "${createdAt}" is not readable`);
  if (reasons.length > 0) return { link, reasons };
  return {
    link,
    leftOut,
    request: {
      name: nameOf(link),
      destination_url: link.destination,
      short_code: link.shortCode,
      domain: domain ?? (link.host !== undefined && domains.has(link.host) ? link.host : undefined),
      optional,
      imported: { created_at, scans: link.scans },
    },
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

interface Findings {
  reasons: string[];
  leftOut: string[];
  /** `reasons`, or `leftOut` if a link is taken without what is not supported. */
  unsupported: string[];
}

function readOptional(
  link: SourceLink,
  ownUrls: readonly string[],
  { reasons, leftOut, unsupported }: Findings,
): OptionalChange {
  const timeOf = (field: string, value: unknown): string | undefined => {
    const time = readTime(value);
    if (isGiven(value) && time === undefined) reasons.push(`${field} "${value}" is not a time that can be read`);
    return time?.toISOString();
  };
  const fields = {
    rules: link.rules,
    starts_at: timeOf('start', link.startsAt),
    expires_at: timeOf('expiry', link.expiresAt),
    max_scans: remainingScans(link, { reasons, unsupported }),
    fallback_url: link.fallback,
    forward_query: link.forwardQuery,
    tags: link.tags.map((tag) => tag.trim()).filter((tag) => tag !== ''),
    note: link.note,
  };
  const { change, problems } = readFields(fields, ownUrls);
  for (const { field, problem } of problems) {
    // Neither decides where the link leads.
    const cosmetic = (['tags', 'note'] as const).find((name) => field.startsWith(name));
    if (cosmetic === undefined) reasons.push(`${field} ${problem}`);
    else {
      leftOut.push(`${field} ${problem}`);
      change[cosmetic] = null;
    }
  }
  return change;
}

/** How often the link may still be opened; undefined without a limit. */
function remainingScans(
  { maxScans, scans }: SourceLink,
  { reasons, unsupported }: Pick<Findings, 'reasons' | 'unsupported'>,
): number | undefined {
  if (maxScans === undefined || maxScans === 0) return undefined;
  if (scans === undefined) unsupported.push(`its limit of ${maxScans} clicks counts clicks that are not known here`);
  else if (scans >= maxScans) reasons.push(`its limit of ${maxScans} clicks is used up`);
  else return maxScans - scans;
  return undefined;
}

const maxNameLength = 255;

/** The title on one line and not too long; without one, the short code, or the host of the destination. */
function nameOf({ title = '', shortCode, destination }: SourceLink): string {
  const clean = title
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const name = clean === '' ? (shortCode ?? new URL(destination).hostname) : clean;
  return [...name].slice(0, maxNameLength).join('').trim();
}
