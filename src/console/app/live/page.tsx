import { useEffect, useRef, useState } from 'preact/hooks';
import { Attribution } from '../analytics/attribution.tsx';
import { country, displayName, number, plural, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Heading } from '../parts/heading.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { pageUrl } from '../router.ts';
import { useCodeNames } from './names.ts';
import { type Connection, type LiveScan, useLiveScans } from './stream.ts';

const connectionTexts: Record<Connection, string> = {
  connecting: 'Connecting…',
  connected: 'Connected. Scans appear as they happen.',
  reconnecting: 'Connection lost. Reconnecting; no scan will be missed.',
};

/** Scans as they happen. */
export function LivePage() {
  const live = useLiveScans();
  const [paused, setPaused] = useState<LiveScan[] | undefined>();
  const isPaused = paused !== undefined;
  const shown = paused ?? live.scans;
  const names = useCodeNames(live.scans?.map(({ qr_id }) => qr_id) ?? []);
  const waiting = isPaused ? newerThan(live.scans ?? [], paused) : 0;
  return (
    <>
      <Heading
        title="Live"
        lead={
          <span class={`connection ${isPaused ? 'paused' : live.connection}`}>
            {isPaused ? `Paused. ${plural(waiting, 'newer scan')}.` : connectionTexts[live.connection]}
          </span>
        }
      >
        <button type="button" class="button" onClick={() => setPaused(isPaused ? undefined : (live.scans ?? []))}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </Heading>
      <dl class="grid live-figures">
        <div class="card">
          <dt>Scans in the last minute</dt>
          <dd class="figure">{number(live.perMinute)}</dd>
        </div>
        <div class="card">
          <dt>Scans since you opened this page</dt>
          <dd class="figure">{number(live.total)}</dd>
        </div>
      </dl>
      <ZoneNote />
      <Announcements scans={shown ?? []} total={isPaused ? 0 : live.total} names={names} />
      {shown === undefined ? (
        <Skeleton lines={6} />
      ) : shown.length === 0 ? (
        <Empty title="No scans yet">
          <p>Scan one of your codes with your phone, and it appears here.</p>
        </Empty>
      ) : (
        <ol class="card lines live-scans" aria-label="Latest scans, newest first">
          {shown.map((scan) => (
            <ScanItem key={scan.id} scan={scan} name={names.get(scan.qr_id)} />
          ))}
        </ol>
      )}
      <Attribution />
    </>
  );
}

function newerThan(scans: LiveScan[], paused: LiveScan[]): number {
  const known = new Set(paused.map(({ id }) => id));
  return scans.filter(({ id }) => !known.has(id)).length;
}

const ScanItem = ({ scan, name }: { scan: LiveScan; name: string | undefined }) => (
  <li class={scan.isNew ? 'new' : undefined}>
    <span class="place">{placeOf(scan)}</span>
    <a href={pageUrl(`/codes/${scan.qr_id}`)} dir="auto">
      {name ?? scan.qr_id}
    </a>
    <span class="muted">
      {displayName(scan.device)}, {displayName(scan.browser)}
    </span>
    <span class="row gap-xs badges">
      {scan.is_unique && <span class="badge active">New visitor</span>}
      {scan.is_bot && <span class="badge">Bot</span>}
    </span>
    <time class="muted" dateTime={scan.timestamp}>
      {time(scan.timestamp)}
    </time>
  </li>
);

const placeOf = ({ city, country: code }: LiveScan) =>
  [...new Set([city, country(code)])].filter((part) => part !== 'Unknown').join(', ') || 'Unknown location';

const announceMs = 5_000;

/** Tells screen readers about new scans, one sentence every 5 seconds at most, however many there are. */
function Announcements({
  scans,
  total,
  names,
}: {
  scans: LiveScan[];
  total: number;
  names: ReadonlyMap<string, string>;
}) {
  const [text, setText] = useState('');
  const latest = useRef({ scans, total, names });
  latest.current = { scans, total, names };
  useEffect(() => {
    let announced = latest.current.total;
    const timer = setInterval(() => {
      const now = latest.current;
      const [newest] = now.scans;
      if (now.total <= announced || newest === undefined) return;
      setText(
        `${plural(now.total - announced, 'new scan')}, the latest of ${now.names.get(newest.qr_id) ?? 'a code'} from ${placeOf(newest)}.`,
      );
      announced = now.total;
    }, announceMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <p class="hidden" role="status">
      {text}
    </p>
  );
}
