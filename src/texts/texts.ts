/** The words of shared pages. `%` is replaced. */
export interface ShareTexts {
  scans: string;
  visitors: string;
  periods: Record<'7d' | '30d' | '90d' | '12m', string>;
  /** Titles of the chart, by its interval, and of the tables. */
  perDay: string;
  perMonth: string;
  codes: string;
  countries: string;
  devices: string;
  browsers: string;
  other: string;
  unknown: string;
  /** In place of a figure. */
  few: string;
  nothing: string;
  asTable: string;
  date: string;
  notes: { hidden: string; withoutBots: string; timezone: string };
  missing: readonly [title: string, text: string];
  password: string;
  open: string;
  isProtected: string;
  wrongPassword: string;
  tooManyTries: string;
}

/** The words of reports, besides those of shared pages. */
export interface ReportTexts {
  weekly: string;
  monthly: string;
  comparedWith(period: string): string;
  /** The figure of the period before. */
  before(figure: string): string;
  page(number: number, count: number): string;
  cities: string;
  /** Heads of columns. */
  share: string;
  change: string;
  noChange: string;
  /** In place of a change, where there was nothing before. */
  isNew: string;
  otherCodes(count: string): string;
  /** In place of a name that cannot be printed. */
  unnamed: string;
  /** Names of devices; those of the others are the same everywhere. */
  appleMobile: string;
  computer: string;
  attached: string;
  reason(owner: string): string;
}

/** The words by which recipients of reports and alerts unsubscribe: in mails, and on the page of the link. */
export interface UnsubscribeTexts {
  unsubscribe: string;
  subscribeAgain: string;
  isUnsubscribed: string;
  isMailed(name: string, address: string): string;
  isNotMailed(name: string, address: string): string;
  missing: readonly [title: string, text: string];
}

/** How often a code was scanned, compared with earlier weeks. All are written as the reader writes them. */
export interface RhythmFacts {
  name: string;
  scans: string;
  duration: string;
  weeks: string;
  average: string;
  /** The fewest of these weeks for silence, the most for a spike. */
  extreme: string;
}

export interface DownFacts {
  name: string;
  url: string;
  /** A sentence. */
  problem: string;
  /** How many other addresses of the code are down as well. */
  others: number;
}

interface LimitTexts {
  title: string;
  message(used: string, limit: string): string;
}

/** What alerts say to people who do not know how they work. */
export interface AlertTexts {
  silent: { title(name: string): string; message(facts: RhythmFacts): string; over(name: string): string };
  spike: { title(name: string): string; message(facts: RhythmFacts): string; over(name: string): string };
  scans: {
    near(name: string): string;
    usedUp(name: string): string;
    message(name: string, used: string, max: string): string;
  };
  down: { title(name: string): string; message(facts: DownFacts): string; over: string };
  /** Why a website is down, as sentences. */
  problems: {
    circles(host: string): string;
    missing(host: string, status: number): string;
    failing(host: string, status: number): string;
    unknownHost(host: string): string;
    noAnswer(host: string): string;
    /** `detail` is a sentence about the connection, in English. */
    unreachable(host: string, detail: string): string;
  };
  limits: Record<'codes' | 'domains' | 'short_codes' | 'disk', LimitTexts>;
  limitOver: string;
  /** `found` is a sentence about DNS records, in English; empty if there is none. */
  domain: { title(name: string): string; message(name: string, found: string): string; over: string };
  paused: string;
  unwatched: string;
  /** What is over, as the subject of a mail. */
  over(title: string): string;
  more(count: string): string;
  showMore: string;
  showAll: string;
  /** Subject of a mail about several things. */
  changes(name: string, count: string): string;
  reason(name: string): string;
}

/** Everything that we write in one language to people who have not chosen English. */
export interface Texts {
  direction: 'ltr' | 'rtl';
  share: ShareTexts;
  report: ReportTexts;
  unsubscribe: UnsubscribeTexts;
  alert: AlertTexts;
}
