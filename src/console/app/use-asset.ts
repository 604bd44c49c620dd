import { useEffect, useState } from 'preact/hooks';

const loading = new Map<string, Promise<unknown>>();

/** A file of the console, loaded once for all of its users when the first of them needs it; undefined until then. A load that fails is repeated by the next one who needs it. */
function useLoaded<T>(url: string, isNeeded: boolean, load: (url: string) => Promise<T>): T | undefined {
  const [asset, setAsset] = useState<{ loaded: T }>();
  useEffect(() => {
    if (!isNeeded || asset !== undefined) return;
    const started = loading.get(url) ?? load(url);
    loading.set(url, started);
    started.then(
      (loaded) => setAsset({ loaded: loaded as T }),
      () => loading.delete(url),
    );
  }, [url, isNeeded, asset]);
  return asset?.loaded;
}

/**
 * The content of a JSON file.
 *
 * @example
 * const font = useAsset<FrameFont>(bootstrap.frame_font_url, style.frame !== undefined);
 */
export const useAsset = <T>(url: string, isNeeded = true): T | undefined =>
  useLoaded<T>(url, isNeeded, (from) => fetch(from).then((response) => response.json()));

/** What a module exports by default. */
export const useModule = <T>(url: string): T | undefined =>
  useLoaded<T>(url, true, async (from) => (await import(from)).default);
