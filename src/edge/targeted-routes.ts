import type { Scan } from '../../events/scan.ts';
import type { RedirectTarget } from '../../events/targeting/resolver.ts';
import type { Availability } from '../../events/targeting/targeting.ts';
import type { Bans } from './bans.ts';
import { inactiveReason } from './inactive.ts';
import type { LimitedRecorder } from './limited-recorder.ts';
import { type Drop, type Notice, notStartedUntil } from './pages.ts';
import type { Recorder } from './recorder.ts';
import type { KnownRoute } from './routes.ts';
import { type ScanSources, scanFacts } from './scan-facts.ts';

interface TargetedOptions {
  sources: ScanSources;
  bans: Bans;
  recorder: Pick<Recorder, 'record'>;
  limited: Pick<LimitedRecorder, 'record'>;
}

/** How a request for a short link ends: redirected, with the id of the scan if it was recorded, or dropped. */
type End = { location: string; scan: string | undefined } | { drop: Drop; notice?: Notice };

/** Follows routes with rules, a schedule, a limit, or a query to add. Other routes never get here. */
export class TargetedRoutes {
  readonly #options: TargetedOptions;

  constructor(options: TargetedOptions) {
    this.#options = options;
  }

  async follow(route: KnownRoute, request: Request, peer: string): Promise<End> {
    const { sources, recorder, limited } = this.#options;
    // Its visitor key is destroyed, so there are no facts about a scan.
    if (route.status === 'deleted') return { drop: 'deleted' };
    const scan = scanFacts(route, request.headers, peer, sources);
    const resolver = sources.routes.resolverOf(route);
    const atMs = scan.occurred_at.getTime();
    const availability = resolver.availabilityAt(atMs);
    if (availability !== 'live') return this.#followFallback(route, request, scan, availability);

    const language = request.headers.get('accept-language') ?? '';
    const target = resolver.resolve({ ...pick(scan), language, atMs }, scan.visitor);
    const inactive = this.#inactiveReason(route, target);
    if (inactive !== undefined) return { drop: inactive };
    const location = target.locationOf(queryOf(request.url));
    // HEAD only checks the link: it is redirected, but is not a scan.
    if (request.method === 'HEAD') return { location, scan: undefined };
    take(scan, target);
    if (route.targeting?.max_scans === undefined) await recorder.record(scan);
    else if (!(await limited.record(route, scan))) return this.#followFallback(route, request, scan, 'limit_reached');
    return { location, scan: scan.id };
  }

  /** Ends a request for a code that is not live now. */
  async #followFallback(
    route: KnownRoute,
    request: Request,
    scan: Scan,
    availability: Exclude<Availability, 'live'>,
  ): Promise<End> {
    const { sources, recorder } = this.#options;
    const { fallback } = sources.routes.resolverOf(route);
    const inactive = this.#inactiveReason(route, fallback);
    if (inactive !== undefined) return { drop: inactive };
    if (fallback === undefined) return dropOf(availability, route);
    const location = fallback.locationOf('');
    if (request.method === 'HEAD') return { location, scan: undefined };
    take(scan, fallback);
    await recorder.record(scan);
    return { location, scan: scan.id };
  }

  /** A blocked host disables the scans that lead there, and no others. */
  #inactiveReason({ status, account, disabled, destination_url }: KnownRoute, target: RedirectTarget | undefined) {
    return inactiveReason(
      { status, account, disabled, destination_url: target?.url ?? destination_url },
      this.#options.bans,
    );
  }
}

const pick = ({ country, device, browser }: Scan) => ({ country, device, browser });

function take(scan: Scan, { rule, variant }: RedirectTarget): void {
  scan.rule = rule;
  scan.variant = variant;
}

function queryOf(url: string): string {
  const question = url.indexOf('?');
  return question === -1 ? '' : url.slice(question + 1);
}

function dropOf(availability: Exclude<Availability, 'live'>, { targeting }: KnownRoute): End {
  if (availability !== 'scheduled') return { drop: availability };
  return { drop: 'not_started', notice: notStartedUntil(new Date(targeting?.starts_at ?? 0)) };
}
