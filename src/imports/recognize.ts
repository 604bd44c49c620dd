import type { SourceName } from './source-names.ts';

/** The title of a column, or the name of a field, without case, spaces, "-" and "_". */
export const foldTitle = (title: string): string => title.toLowerCase().replaceAll(/[\s_-]+/g, '');

/** Titles and fields that only this service writes together, in the order in which they are tried. */
const signatures: readonly (readonly [SourceName, ...string[]])[] = [
  ['bitly', 'bitlink'],
  ['bitly', 'longurl', 'custombitlinks'],
  ['rebrandly', 'slashtag', 'destination'],
  ['kutt', 'address', 'target'],
  ['yourls', 'keyword', 'url'],
  ['yourls', 'shorturl', 'url', 'timestamp'],
  ['short-io', 'originalurl', 'path'],
  ['short-io', 'originalurl', 'shorturl'],
  ['dub', 'shortlink', 'destinationurl'],
  ['dub', 'shortlink', 'key', 'url'],
  ['shlink', 'longurl', 'shortcode'],
  ['shlink', 'longurl', 'shorturl'],
];

/** The service whose export has these titles; undefined if it could be any. */
export function recognizeTitles(titles: readonly string[]): SourceName | undefined {
  const folded = new Set(titles.map(foldTitle));
  return signatures.find(([, ...needed]) => needed.every((title) => folded.has(title)))?.[0];
}

/** Values that are looked at in a JSON file: its first entry is found long before. */
const maxVisited = 1_000;

/** The service whose API returns such JSON, by the fields of the first entry in it. */
export function recognizeJson(content: unknown): SourceName | undefined {
  const waiting: unknown[] = [content];
  for (let i = 0; i < Math.min(waiting.length, maxVisited); i++) {
    const value = waiting[i];
    if (Array.isArray(value)) waiting.push(value[0]);
    else if (typeof value === 'object' && value !== null) {
      const source = recognizeTitles(Object.keys(value));
      if (source !== undefined) return source;
      waiting.push(...Object.values(value).slice(0, maxVisited));
    }
  }
  return undefined;
}
