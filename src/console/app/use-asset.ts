import { useEffect, useState } from 'preact/hooks';

const loading = new Map<string, Promise<unknown>>();

/**
 * A JSON file of the console, loaded once for all of its users when the first of them needs it; undefined until then. A load
 * that fails is repeated by the next one who needs it.
 *
 * @example
 * const font = useAsset<FrameFont>(bootstrap.frame_font_url, style.frame !== undefined);
 */
export function useAsset<T>(url: string, isNeeded = true): T | undefined {
  const [asset, setAsset] = useState<T>();
  useEffect(() => {
    if (!isNeeded || asset !== undefined) return;
    const load = loading.get(url) ?? fetch(url).then((response) => response.json());
    loading.set(url, load);
    load.then(
      (loaded) => setAsset(loaded as T),
      () => loading.delete(url),
    );
  }, [url, isNeeded, asset]);
  return asset;
}
