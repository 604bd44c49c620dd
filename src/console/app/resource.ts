import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
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
  const wanted = useRef(key);
  wanted.current = key;

  const read = useCallback(
    async (signal?: AbortSignal) => {
      if (path === undefined) return;
      try {
        const data = await api.get<T>(path, query, signal);
        const text = JSON.stringify(data);
        if (wanted.current === key)
          setShown((now) =>
            now.key === key && now.text === text && now.error === undefined
              ? now
              : { key, text, data, error: undefined },
          );
      } catch (error) {
        if (signal?.aborted || wanted.current !== key) return;
        if (!(error instanceof ApiError)) throw error;
        // A hiccup while refreshing takes nothing away that is there.
        setShown((now) => ({ ...(now.key === key ? now : { text: '', data: undefined }), key, error }));
      }
    },
    [key],
  );

  useEffect(() => {
    const stop = new AbortController();
    read(stop.signal);
    return () => stop.abort();
  }, [read, since]);

  // Whatever is away comes back by itself, and so does what is shown.
  const isAway = shown.key === key && shown.error !== undefined && [0, 429, 503].includes(shown.error.status);
  useEffect(() => {
    if (!isAway) return undefined;
    const timer = setInterval(() => read(), againMs);
    return () => clearInterval(timer);
  }, [read, isAway]);

  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const refresh = () => {
      if (document.visibilityState === 'visible') read();
    };
    const timer = setInterval(refresh, everyMs);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [read, everyMs]);

  const reload = useCallback(() => read(), [read]);
  const isCurrent = shown.key === key;
  return { data: shown.data, error: isCurrent ? shown.error : undefined, loading: !isCurrent, reload };
}
