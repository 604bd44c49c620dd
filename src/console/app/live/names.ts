import { useEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import type { ListedQrCode, Page, QrCode } from '../types.ts';

/** Names by id, read once for each code, one code at a time. Without the codes that cannot be read. */
export function useCodeNames(ids: string[]): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const [failed, setFailed] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const stopping = new AbortController();
    api
      .get<Page<ListedQrCode>>('/qrcodes', { limit: 100 }, stopping.signal)
      .then(({ data }) => setNames((now) => new Map([...data.map(({ id, name }) => [id, name] as const), ...now])))
      .catch(() => {});
    return () => stopping.abort();
  }, []);
  const missing = ids.find((id) => !names.has(id) && !failed.has(id));
  useEffect(() => {
    if (missing === undefined) return undefined;
    const stopping = new AbortController();
    api.get<QrCode>(`/qrcodes/${missing}`, {}, stopping.signal).then(
      ({ name }) => setNames((now) => new Map([...now, [missing, name]])),
      () => {
        if (!stopping.signal.aborted) setFailed((now) => new Set([...now, missing]));
      },
    );
    return () => stopping.abort();
  }, [missing]);
  return names;
}
