import { createHash } from 'node:crypto';
import { StartError } from '../lib/errors.ts';
import { countOf, deviceRules, idOf, partsOf, type SourceLink } from './link.ts';
import { foldTitle } from './recognize.ts';

/** Titles of columns in exports, folded. */
const titles = {
  shortLink: ['bitlink', 'shortlink', 'shorturl', 'link', 'custombitlink'],
  shortCode: ['shortcode', 'keyword', 'address', 'slashtag', 'path', 'slug', 'key', 'backhalf'],
  domain: ['domain', 'domainname', 'host', 'hostname'],
  destination: [
    ...['longurl', 'destinationurl', 'destination', 'url', 'target', 'originalurl'],
    ...['targeturl', 'longlink', 'original'],
  ],
  title: ['title', 'name', 'description'],
  note: ['note', 'notes', 'comments'],
  tags: ['tags', 'tag', 'labels'],
  createdAt: ['created', 'createdat', 'datecreated', 'timestamp', 'creationdate', 'createddate'],
  startsAt: ['startsat', 'validsince'],
  expiresAt: ['expiresat', 'expirein', 'expires', 'expirationdate', 'validuntil', 'expiration'],
  fallback: ['fallbackurl', 'expiredurl', 'expirationurl'],
  scans: ['totalclicks', 'clicks', 'visitcount', 'visits', 'scans', 'totalscans', 'visitscount'],
  ios: ['ios', 'iosurl', 'iphoneurl', 'iosdestination', 'iostargeting'],
  android: ['android', 'androidurl', 'androiddestination', 'androidtargeting'],
  password: ['password', 'haspassword'],
} as const;

type Column = keyof typeof titles;

const columnOfTitle = new Map(
  (Object.keys(titles) as Column[]).flatMap((column) => titles[column].map((title) => [title as string, column])),
);

/** Which column of a table is what. */
export interface Columns {
  indexes: Map<Column, number>;
  /** The titles of columns that are not read. */
  unread: string[];
}

/** Reads the first row of an export; throws if it has no column for the destination. */
export function readTitles(cells: string[]): Columns {
  const indexes = new Map<Column, number>();
  const unread: string[] = [];
  cells.forEach((title, index) => {
    const column = columnOfTitle.get(foldTitle(title));
    if (column === undefined || indexes.has(column)) unread.push(title);
    else indexes.set(column, index);
  });
  if (indexes.has('destination')) return { indexes, unread: unread.filter((title) => title !== '') };
  throw new StartError(
    `The first row of the file must have the titles of its columns, one of them for the destination, such as "Long URL" or "destination_url"; it has: ${cells.join(', ').slice(0, 200)}.`,
  );
}

/** A row of an export as a link. */
export function linkOfRow({ indexes }: Columns, cells: string[]): SourceLink {
  const cell = (column: Column): string | undefined => {
    const index = indexes.get(column);
    return index === undefined ? undefined : cells[index] || undefined;
  };
  const destination = cell('destination') ?? '';
  const parts = partsOf(cell('shortLink'));
  const shortCode = cell('shortCode') ?? parts?.shortCode ?? cell('shortLink');
  const host = cell('domain')?.toLowerCase() ?? parts?.host;
  const title = cell('title');
  const password = cell('password')?.toLowerCase();
  return {
    id: shortCode === undefined ? hashOf(destination, title) : idOf(host, shortCode),
    host,
    shortCode,
    destination,
    title,
    note: cell('note'),
    tags: (cell('tags') ?? '').split(/[,|;]/),
    createdAt: cell('createdAt'),
    startsAt: cell('startsAt'),
    expiresAt: cell('expiresAt'),
    fallback: cell('fallback'),
    scans: countOf(cell('scans')),
    rules: deviceRules({ ios: cell('ios'), android: cell('android') }),
    unsupported: [],
    closed: password === undefined || ['false', 'no', '0'].includes(password) ? undefined : withPassword,
  };
}

export const withPassword = 'it has a password, which cannot be taken over';

/** Rows without a short link are the same link if destination and title are. */
const hashOf = (destination: string, title = ''): string =>
  `row-${createHash('sha256')
    .update(JSON.stringify([destination, title]))
    .digest('hex')
    .slice(0, 32)}`;
