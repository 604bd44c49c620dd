import type { Finding } from '../../events/alert.ts';
import type { Mode } from '../../events/plans.ts';
import { averageOf, type Comparison } from './rhythm.ts';

/** Messages of alerts, for people who do not know how alerts work. */

const number = (value: number) => Math.round(value).toLocaleString('en-US');
const counted = (count: number, noun: string) => `${number(count)} ${noun}${Math.round(count) === 1 ? '' : 's'}`;

/** @example durationOf(30) // '1 day and 6 hours' */
export function durationOf(hours: number): string {
  const [days, rest] = [Math.floor(hours / 24), hours % 24];
  if (days === 0) return counted(hours, 'hour');
  return rest === 0 || days > 3 ? counted(days, 'day') : `${counted(days, 'day')} and ${counted(rest, 'hour')}`;
}

interface Named {
  id: string;
  name: string;
}

/** The address of a page of the console. */
export const consoleUrl = (publicUrl: string, mode: Mode, path: string) =>
  `${publicUrl}/console${mode === 'test' ? '/test' : ''}${path}`;

/** What links in a message depend on. */
export interface Audience {
  publicUrl: string;
  mode: Mode;
}

const aboutCode = ({ publicUrl, mode }: Audience, { id }: Named) => ({
  subject: id,
  code: id,
  domain: null,
  link: consoleUrl(publicUrl, mode, `/codes/${id}`),
});

const weeksOf = ({ weeks }: Comparison) => `the same hours of ${weeks.length} earlier weeks`;

export const silentFinding = (to: Audience, code: Named, silence: Comparison): Finding => ({
  ...aboutCode(to, code),
  title: `“${code.name}” is not scanned any more`,
  message: `“${code.name}” has had no scan for ${durationOf(silence.hours)}. In ${weeksOf(silence)} it had ${number(averageOf(silence))} on average, and never fewer than ${number(Math.min(...silence.weeks))}. Check that the printed code is still there and can be seen, and that its link works.`,
});

export const spikeFinding = (to: Audience, code: Named, spike: Comparison): Finding => ({
  ...aboutCode(to, code),
  title: `“${code.name}” is scanned far more than usual`,
  message: `“${code.name}” has had ${counted(spike.scans, 'scan')} in the last ${durationOf(spike.hours)}. In ${weeksOf(spike)} it had ${number(averageOf(spike))} on average, and never more than ${number(Math.max(...spike.weeks))}. Its analytics show where the scans come from.`,
});

export const scansFinding = (to: Audience, code: Named & { used: number; max_scans: number }): Finding => ({
  ...aboutCode(to, code),
  title:
    code.used >= code.max_scans
      ? `“${code.name}” has used up its scans`
      : `“${code.name}” has nearly used up its scans`,
  message: `“${code.name}” has had ${number(code.used)} of its ${counted(code.max_scans, 'scan')}. When none are left, guests no longer reach its destination. You can raise the limit of the code.`,
});

export interface Problem {
  url: string;
  problem: string;
  since: Date;
  /** Other addresses that the same code leads to, and that are down as well. */
  others: number;
}

export const downFinding = (to: Audience, code: Named, { url, problem, others }: Problem): Finding => ({
  ...aboutCode(to, code),
  title: `The website of “${code.name}” is down`,
  message: `“${code.name}” leads to ${url}, which has failed twice within about an hour. ${problem}${others === 0 ? '' : ` ${counted(others, 'other address')} of the code ${others === 1 ? 'is' : 'are'} down as well.`} Guests who scan the code see an error. Repair the website, or change where the code leads.`,
});

/** A limit of the account that is not about one code. */
export interface UsedLimit {
  subject: 'codes' | 'domains' | 'short_codes' | 'disk';
  used: number;
  limit: number;
}

const limitWords = {
  codes: {
    title: 'The plan has hardly any codes left',
    message: (used: string, limit: string) =>
      `${used} of the ${limit} QR codes of your plan exist. When all are used, no more can be created; existing ones keep working. Delete some, or ask for another plan.`,
  },
  domains: {
    title: 'The plan has hardly any domains left',
    message: (used: string, limit: string) =>
      `${used} of the ${limit} domains of your plan are in use. When all are used, no more can be added; existing ones keep working.`,
  },
  short_codes: {
    title: 'The plan has hardly any chosen short codes left',
    message: (used: string, limit: string) =>
      `In the last 30 days, ${used} of ${limit} short codes were chosen. When all are used, new codes get generated ones; existing ones keep working.`,
  },
  disk: {
    title: 'The disk of this service is nearly full',
    message: (used: string, limit: string) =>
      `${used} of ${limit} MB are used on the disk that keeps scans until they are stored. When it is full, short links stop working. Make room on it, or use a larger disk.`,
  },
};

export const limitFinding = ({ publicUrl, mode }: Audience, { subject, used, limit }: UsedLimit): Finding => ({
  subject,
  code: null,
  domain: null,
  title: limitWords[subject].title,
  message: limitWords[subject].message(number(used), number(limit)),
  link: consoleUrl(publicUrl, mode, '/account'),
});

export const domainFinding = (
  { publicUrl, mode }: Audience,
  { id, name, found }: Named & { found: string | null },
): Finding => ({
  subject: id,
  code: null,
  domain: id,
  title: `The domain ${name} is not set up correctly any more`,
  message: `Links on ${name} still work for now, but the domain no longer passes our checks.${found === null ? '' : ` ${found}`} If its records were changed by mistake, set them as its page shows.`,
  link: consoleUrl(publicUrl, mode, `/account/domains/${id}`),
});
