import type { Link } from '../../events/link.ts';
import type { Scan } from '../../events/scan.ts';
import type { RedirectTarget } from '../../events/targeting/resolver.ts';
import type { Availability } from '../../events/targeting/targeting.ts';
import type { Bans } from './bans.ts';
import type { ServedDomain } from './domains.ts';
import type { LimitedRecorder } from './limited-recorder.ts';
import type { DropName, FormName } from './notice-texts.ts';
import { type Drop, notices, notStartedUntil } from './pages.ts';
import type { Opening, PasswordGate } from './password-gate.ts';
import type { Recorder } from './recorder.ts';
import type { RouteLookup } from './route-lookup.ts';
import type { KnownRoute } from './routes.ts';
import { type ScanSources, scanFacts } from './scan-facts.ts';

/** What the steps read and write besides the request. */
export interface StepTools {
  sources: ScanSources;
  bans: Bans;
  lookup: Pick<RouteLookup, 'load'>;
  gate: Pick<PasswordGate, 'open'>;
  recorder: Pick<Recorder, 'record'>;
  limited: Pick<LimitedRecorder, 'record'>;
}

/** A request for a short link, with what the steps so far have found. */
export class LinkRequest {
  readonly request: Request;
  readonly method: string;
  readonly headers: Headers;
  readonly requested: Link;
  readonly peer: string;
  /** The custom domain of the link. */
  readonly domain: ServedDomain | undefined;
  /** Set by `findRoute`; no step before it reads it. */
  route!: KnownRoute;
  availability: Availability = 'live';
  /** Undefined for a route without targeting, whose only location is its destination. */
  target: RedirectTarget | undefined;
  location = '';
  scan: Scan | undefined;
  isRecorded = false;

  constructor(request: Request, requested: Link, peer: string, domain: ServedDomain | undefined) {
    this.request = request;
    this.method = request.method;
    this.headers = request.headers;
    this.requested = requested;
    this.peer = peer;
    this.domain = domain;
  }
}

type Outcome<Reason extends DropName = never> = Drop<Reason> | undefined;
type Step = (link: LinkRequest, tools: StepTools) => Outcome<DropName> | Promise<Outcome<DropName>> | Promise<void>;

/**
 * The steps of a request for a short link, in order. The type of a step says for which reasons it can drop the request; the
 * drop is the notice that the request is answered with. A request that no step drops is redirected to its `location`.
 */
export const redirectSteps: readonly Step[] = [
  checkMethod,
  findRoute,
  chooseTarget,
  checkStatus,
  askForPassword,
  recordWithinLimit,
  checkAvailability,
  recordScan,
];

/** Only the form of a link with a password is posted. */
function checkMethod({ method }: LinkRequest): Outcome<'method'> {
  return method === 'GET' || method === 'HEAD' || method === 'POST' ? undefined : notices.method;
}

function findRoute(
  link: LinkRequest,
  { sources, lookup }: StepTools,
): Outcome<'unknown' | 'method'> | Promise<Outcome<'unknown' | 'method'>> {
  const route = sources.routes.get(link.requested);
  return route === undefined
    ? lookup.load(link.requested).then((loaded) => takeRoute(link, loaded))
    : takeRoute(link, route);
}

function takeRoute(link: LinkRequest, route: KnownRoute | 'unknown'): Outcome<'unknown' | 'method'> {
  if (link.method === 'POST' && (route === 'unknown' || route.password_hash === undefined)) return notices.method;
  // A domain can have changed hands: codes of its former account are not reachable over it.
  if (route === 'unknown' || (link.domain !== undefined && link.domain.account !== route.account))
    return notices.unknown;
  link.route = route;
  link.location = route.location;
  return undefined;
}

/** Only for a route with rules, a schedule, a limit, or a query to add. */
function chooseTarget(link: LinkRequest, { sources }: StepTools): Outcome {
  const { route, request, headers } = link;
  // The visitor key of a deleted code is destroyed, so there are no facts about a scan of it.
  if (route.targeting === undefined || route.status === 'deleted') return undefined;
  link.scan = scanFacts(route, headers, link.peer, sources);
  const { occurred_at, country, device, browser, visitor } = link.scan;
  const resolver = sources.routes.resolverOf(route);
  const atMs = occurred_at.getTime();
  link.availability = resolver.availabilityAt(atMs);
  if (link.availability !== 'live') return takeFallback(link, resolver.fallback);
  const language = headers.get('accept-language') ?? '';
  link.target = resolver.resolve({ country, device, browser, language, atMs }, visitor);
  link.location = link.target.locationOf(queryOf(request.url));
  return undefined;
}

function takeFallback(link: LinkRequest, fallback: RedirectTarget | undefined): undefined {
  link.target = fallback;
  if (fallback !== undefined) link.location = fallback.locationOf('');
}

/** A deleted code is reported as deleted even if the operator has banned it. */
function checkStatus({ route, target }: LinkRequest, { bans }: StepTools): Outcome<Inactive> {
  const { status } = route;
  if (status !== 'deleted' && isBanned(route, target, bans)) return notices.disabled;
  return status === 'active' ? undefined : notices[status];
}

type Inactive = 'deleted' | 'disabled' | 'paused' | 'draft';

/** A blocked host disables the scans that lead there, and no others. */
function isBanned(route: KnownRoute, target: RedirectTarget | undefined, bans: Bans): boolean {
  if (target === undefined) return bans.covers(route);
  const { account, disabled } = route;
  return bans.covers({ account, disabled, destination_url: target.url });
}

/** Only for a route with a password, and not where a notice follows anyway. */
function askForPassword(
  { request, peer, route, availability, target }: LinkRequest,
  { gate }: StepTools,
): Outcome | Promise<Outcome<FormName | 'busy'>> {
  const { code, password_hash: hash } = route;
  if (hash === undefined || (availability !== 'live' && target === undefined)) return undefined;
  return gate.open(request, peer, { code, hash }).then((opening) => formNotices[opening]);
}

const formNotices = {
  open: undefined,
  asked: notices.password,
  wrong: notices.wrong_password,
  too_many: notices.too_many_tries,
  busy: notices.busy,
} satisfies Record<Opening, Outcome<FormName | 'busy'>>;

/** Only for GET of a live code with `max_scans`: stores the scan if it is within the limit. */
function recordWithinLimit(link: LinkRequest, tools: StepTools): Outcome | Promise<Outcome<Inactive>> {
  const { method, availability, route } = link;
  if (method === 'HEAD' || availability !== 'live' || route.targeting?.max_scans === undefined) return undefined;
  return recordLimited(link, tools);
}

/** A scan beyond the limit leads to the fallback, whose host can be a blocked one. */
async function recordLimited(link: LinkRequest, tools: StepTools): Promise<Outcome<Inactive>> {
  const { sources, limited } = tools;
  link.isRecorded = await limited.record(link.route, targetedScan(link, sources));
  if (link.isRecorded) return undefined;
  link.availability = 'limit_reached';
  takeFallback(link, sources.routes.resolverOf(link.route).fallback);
  return checkStatus(link, tools);
}

function checkAvailability(link: LinkRequest): Outcome<'not_started' | 'expired' | 'limit_reached'> {
  const { availability, target, route } = link;
  if (availability === 'live' || target !== undefined) return undefined;
  if (availability !== 'scheduled') return notices[availability];
  return notStartedUntil(new Date(route.targeting?.starts_at ?? 0));
}

/** HEAD only checks the link: it is redirected, but is not a scan. */
function recordScan(link: LinkRequest, { sources, recorder }: StepTools): Outcome | Promise<void> {
  if (link.method === 'HEAD' || link.isRecorded) return undefined;
  return recorder.record(targetedScan(link, sources));
}

/** The scan with the rule and variant of its target. */
function targetedScan(link: LinkRequest, sources: ScanSources): Scan {
  const { route, headers, peer, target } = link;
  link.scan ??= scanFacts(route, headers, peer, sources);
  if (target !== undefined) {
    link.scan.rule = target.rule;
    link.scan.variant = target.variant;
  }
  return link.scan;
}

function queryOf(url: string): string {
  const question = url.indexOf('?');
  return question === -1 ? '' : url.slice(question + 1);
}
