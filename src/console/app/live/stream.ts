import { useEffect, useRef, useState } from 'preact/hooks';
import { api, apiUrl } from '../api.ts';
import type { FeedPage, OwnedScanRecord, Page, ScanEvent } from '../types.ts';

export type Connection = 'connecting' | 'connected' | 'reconnecting';

export interface LiveScan extends OwnedScanRecord {
  /** Whether it came while the page was open. */
  isNew: boolean;
}

export interface LiveScans {
  connection: Connection;
  /** Newest first; undefined until the first are read. */
  scans: LiveScan[] | undefined;
  /** Since the page was opened. */
  total: number;
  /** In the last 60 seconds. */
  perMinute: number;
}

const maxScans = 100;
const recentScans = 20;
/** The page changes at most this often, however many scans arrive. */
const flushMs = 250;
const reopenMs = 3_000;

/** The scans of the account as they happen, newest first. Reconnects by itself, without missing one. */
export function useLiveScans(): LiveScans {
  const [state, setState] = useState<LiveScans>({
    connection: 'connecting',
    scans: undefined,
    total: 0,
    perMinute: 0,
  });
  const arrived = useRef<LiveScan[]>([]);
  const counts = useRef<number[]>([]);
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const setConnection = (connection: Connection) => setState((now) => ({ ...now, connection }));
    follow({ signal, setConnection, onScan: (scan) => arrived.current.push({ ...scan, isNew: true }) });
    readRecent(signal).then((recent) => setState((now) => ({ ...now, scans: newestFirst(now.scans ?? [], recent) })));
    const timer = setInterval(() => {
      const scans = arrived.current.splice(0);
      counts.current = [...counts.current, scans.length].slice(-60_000 / flushMs);
      const perMinute = counts.current.reduce((sum, count) => sum + count, 0);
      setState((now) => {
        if (scans.length === 0) return now.perMinute === perMinute ? now : { ...now, perMinute };
        const shown = newestFirst(scans.toReversed(), now.scans ?? []);
        return { ...now, scans: shown, total: now.total + scans.length, perMinute };
      });
    }, flushMs);
    return () => {
      stopping.abort();
      clearInterval(timer);
    };
  }, []);
  return state;
}

/** Without repetitions: a recent scan can be in both lists. */
function newestFirst(newer: LiveScan[], older: LiveScan[]): LiveScan[] {
  const ids = new Set(newer.map(({ id }) => id));
  return [...newer, ...older.filter(({ id }) => !ids.has(id))].slice(0, maxScans);
}

/** The latest scans before the page was opened; none if analytics are unavailable. */
const readRecent = (signal: AbortSignal): Promise<LiveScan[]> =>
  api.get<Page<OwnedScanRecord>>('/analytics/scans', { limit: recentScans }, signal).then(
    ({ data }) => data.map((scan) => ({ ...scan, isNew: false })),
    () => [],
  );

interface Following {
  signal: AbortSignal;
  setConnection(connection: Connection): void;
  onScan(scan: OwnedScanRecord): void;
}

/** Opens the stream where it was, until the signal aborts. */
async function follow({ signal, setConnection, onScan }: Following): Promise<void> {
  let cursor: string | undefined;
  while (!signal.aborted) {
    try {
      // Also finds out whether the session has ended, which an EventSource cannot tell from other errors.
      const { next } = await api.get<FeedPage>('/events', { after: 'now' }, signal);
      cursor ??= next;
      cursor = await streamFrom(cursor, { signal, setConnection, onScan });
    } catch {
      if (signal.aborted) return;
    }
    setConnection('reconnecting');
    await new Promise((resolve) => setTimeout(resolve, reopenMs));
  }
}

/** Resolves to the last cursor when the browser does not reconnect by itself. */
function streamFrom(cursor: string, { signal, setConnection, onScan }: Following): Promise<string> {
  return new Promise((resolve) => {
    let last = cursor;
    const source = new EventSource(apiUrl('/events', { types: 'scan.created', after: cursor }));
    source.onopen = () => setConnection('connected');
    source.onmessage = ({ data, lastEventId }) => {
      last = lastEventId;
      onScan((JSON.parse(data) as ScanEvent).data);
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) resolve(last);
      else setConnection('reconnecting');
    };
    signal.addEventListener('abort', () => {
      source.close();
      resolve(last);
    });
  });
}
