import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, api } from './api.ts';
import { currentMode } from './router.ts';

/** Something that is read from the service, and kept up to date as long as it is looked at. */
export interface Resource<T> {
  data: T | undefined;
  error: ApiError | undefined;
  /** Being read for the first time, or for another address than the data shown. */
  loading: boolean;
  reload(): Promise<void>;
}

const againMs = 3_000;

interface Options {
  query?: Record<string, string | number | undefined>;
  /** Reads again this often while the page is visible, and at once when it becomes so. */
  everyMs?: number;
  /** Whatever else makes a new read necessary. */
  since?: unknown;
}

interface Shown<T> {
  key: string;
  text: string;
  data: T | undefined;
  error: ApiError | undefined;
}

/** Reads `path`, or nothing while it is undefined. While another address is read, the data before stays. */
export function useResource<T>(path: string | undefined, { query, everyMs, since }: Options = {}): Resource<T> {
  const key = path === undefined ? '' : `${currentMode()} ${path} ${JSON.stringify(query ?? {})}`;
  const [shown, setShown] = useState<Shown<T>>({ key: '', text: '', data: undefined, error: undefined });
  const read = useMemo(() => oneAtATime((signal) => readInto(setShown, key, path, query, signal)), [key]);
  useEffect(() => read.stop, [read]);

  useEffect(() => {
    read.now();
  }, [read, since]);

  // Whatever is away comes back by itself, and so does what is shown.
  const isAway = shown.key === key && shown.error?.isPassing === true;
  const pause = isAway ? againMs : everyMs;
  useEffect(() => {
    if (pause === undefined) return undefined;
    const refresh = () => {
      if (document.visibilityState === 'visible') read.now();
    };
    const timer = setInterval(refresh, pause);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [read, pause]);

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
    // What has not changed is not drawn again.
    setShown((now) =>
      now.key === key && now.text === text && now.error === undefined ? now : { key, text, data, error: undefined },
    );
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    // A hiccup while refreshing takes nothing away that is there.
    setShown((now) => ({ ...(now.key === key ? now : { text: '', data: undefined }), key, error }));
  }
}

type StateUpdate<S> = (update: (now: S) => S) => void;

/**
 * However often it is asked for, one read is under way; what is asked for meanwhile is read once more after it. A
 * service that is slow is not asked more often for that.
 */
function oneAtATime(read: (signal: AbortSignal) => Promise<void>) {
  const stopping = new AbortController();
  let underWay: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  function start(): Promise<void> {
    underWay = read(stopping.signal).finally(() => {
      underWay = undefined;
    });
    return underWay;
  }
  function now(): Promise<void> {
    if (underWay === undefined) return start();
    next ??= underWay.then(() => {
      next = undefined;
      return stopping.signal.aborted ? undefined : start();
    });
    return next;
  }
  return { now, stop: () => stopping.abort() };
}
