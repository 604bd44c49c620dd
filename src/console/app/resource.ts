import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, api, type Query } from './api.ts';
import { currentMode } from './router.ts';

/** Data read from the service and refreshed while the component is mounted. */
export interface Resource<T> {
  data: T | undefined;
  error: ApiError | undefined;
  /** Whether `data` is missing or belongs to a previous path or query. */
  loading: boolean;
  reload(): Promise<void>;
}

const retryIntervalMs = 3_000;

interface Options {
  query?: Query;
  /** Reads again at this interval while the page is visible, and at once when it becomes visible. */
  refreshIntervalMs?: number;
  /** Reads again when this value changes. */
  refreshKey?: unknown;
}

interface Shown<T> {
  key: string;
  text: string;
  data: T | undefined;
  error: ApiError | undefined;
}

/** Reads `path`, or nothing while it is undefined. Previous data stays until the data of a new path has arrived. */
export function useResource<T>(
  path: string | undefined,
  { query, refreshIntervalMs, refreshKey }: Options = {},
): Resource<T> {
  const key = path === undefined ? '' : `${currentMode()} ${path} ${JSON.stringify(query ?? {})}`;
  const [shown, setShown] = useState<Shown<T>>({ key: '', text: '', data: undefined, error: undefined });
  const read = useMemo(() => serializeReads((signal) => readInto(setShown, key, path, query, signal)), [key]);
  useEffect(() => read.stop, [read]);

  useEffect(() => {
    read.now();
  }, [read, refreshKey]);

  // A transient error is retried even where there is no regular refresh.
  const hasTransientError = shown.key === key && shown.error?.isTransient === true;
  const intervalMs = hasTransientError ? retryIntervalMs : refreshIntervalMs;
  useEffect(() => {
    if (intervalMs === undefined) return undefined;
    const refresh = () => {
      if (document.visibilityState === 'visible') read.now();
    };
    const timer = setInterval(refresh, intervalMs);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [read, intervalMs]);

  const isCurrent = shown.key === key;
  return { data: shown.data, error: isCurrent ? shown.error : undefined, loading: !isCurrent, reload: read.now };
}

async function readInto<T>(
  setShown: StateUpdate<Shown<T>>,
  key: string,
  path: string | undefined,
  query: Options['query'],
  signal: AbortSignal,
): Promise<void> {
  if (path === undefined) return;
  try {
    const data = await api.get<T>(path, query, signal);
    const text = JSON.stringify(data);
    // Unchanged data keeps the state object, which avoids a render.
    setShown((now) =>
      now.key === key && now.text === text && now.error === undefined ? now : { key, text, data, error: undefined },
    );
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    // A failed refresh keeps the data on screen.
    setShown((now) => ({ ...(now.key === key ? now : { text: '', data: undefined }), key, error }));
  }
}

type StateUpdate<S> = (update: (now: S) => S) => void;

/**
 * Runs at most one read at a time; calls during a read share one more read after it. A slow service is therefore not
 * sent overlapping requests.
 */
function serializeReads(read: (signal: AbortSignal) => Promise<void>) {
  const abort = new AbortController();
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  function start(): Promise<void> {
    current = read(abort.signal).finally(() => {
      current = undefined;
    });
    return current;
  }
  function now(): Promise<void> {
    if (current === undefined) return start();
    next ??= current.then(() => {
      next = undefined;
      return abort.signal.aborted ? undefined : start();
    });
    return next;
  }
  return { now, stop: () => abort.abort() };
}
