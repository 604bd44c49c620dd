import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { messageOf, StartError } from '../lib/errors.ts';
import { createClient } from './client.ts';
import { linkOfRow, readTitles } from './columns.ts';
import { readCsv } from './csv.ts';
import { isItem, type LinkPage, type SourceLink } from './link.ts';
import type { SourceName } from './source-names.ts';
import { sourceOf } from './sources.ts';

/** Where links come from, and what the reader reports beside them. */
export interface ReadOptions {
  source: SourceName;
  /** A file, or the URL of an API. */
  from: string;
  key: string | undefined;
  onPause(seconds: number, reason: string): void;
  /** The titles of columns that are not read. */
  onUnread(titles: string[]): void;
}

/** A JSON file is parsed at once; a table is read row by row, however large it is. */
const maxJsonBytes = 64 * 1024 * 1024;
const rowsPerPage = 100;

/** All links of an export file or of an API, a page at a time. */
export function readLinks(options: ReadOptions): AsyncGenerator<LinkPage> {
  if (/^https?:\/\//i.test(options.from)) return readApi(options);
  const size = sizeOf(options.from);
  return size.isJson ? readJson(options, size.bytes) : readTable(options);
}

function readApi({ source, from, key, onPause }: ReadOptions): AsyncGenerator<LinkPage> {
  const pages = sourceOf(source)?.pages;
  if (pages === undefined) throw new StartError(`${source} is read from a file, not from a URL.`);
  if (!URL.canParse(from)) throw new StartError(`${from} is not a URL.`);
  if (key === undefined) throw new StartError('The API needs a key: set IMPORT_KEY, or pass --key.');
  return pages(createClient({ url: from, key, onPause }));
}

function sizeOf(file: string): { bytes: number; isJson: boolean } {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new Error('it is not a file');
    return { bytes: stats.size, isJson: /\.json$/i.test(file) };
  } catch (error) {
    throw new StartError(`${file} cannot be read: ${messageOf(error)}.`);
  }
}

/** Reads a JSON file that is not too large to be parsed at once. */
async function* readJson({ source, from }: ReadOptions, bytes: number): AsyncGenerator<LinkPage> {
  if (bytes > maxJsonBytes) throw new StartError(`${from} is larger than 64 MB: split it.`);
  const links = [...linksOfJson(source, parseJson(from, await readFile(from, 'utf8')))];
  for (let i = 0; i < links.length; i += rowsPerPage)
    yield { links: links.slice(i, i + rowsPerPage), total: links.length };
}

export function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartError(`${file} is not JSON: ${messageOf(error)}.`);
  }
}

/** The links of entries as the API of the source returns them: a list of entries, one page, or a list of pages. */
export function* linksOfJson(source: SourceName, content: unknown): Generator<SourceLink> {
  const reader = sourceOf(source);
  if (reader === undefined) throw new StartError(`${source} is read from a table (CSV), not from JSON.`);
  for (const entry of (Array.isArray(content) ? content : [content]).filter(isItem)) {
    const page = reader.itemsOf(entry).filter(isItem);
    for (const item of page.length === 0 ? [entry] : page) yield* reader.readItem(item);
  }
}

async function* readTable({ from, onUnread }: ReadOptions): AsyncGenerator<LinkPage> {
  let links: SourceLink[] = [];
  const onTitles = (_: string[], unread: string[]) => {
    if (unread.length > 0) onUnread(unread);
  };
  for await (const link of linksOfTable(from, createReadStream(from), onTitles)) {
    links.push(link);
    if (links.length < rowsPerPage) continue;
    yield { links };
    links = [];
  }
  if (links.length > 0) yield { links };
}

/** The links of a table, row by row. `onTitles` gets the first row, and those of its titles that are not read. */
export async function* linksOfTable(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  onTitles: (titles: string[], unread: string[]) => void,
): AsyncGenerator<SourceLink> {
  let columns: ReturnType<typeof readTitles> | undefined;
  for await (const { cells } of readCsv(decoded(file, bytes))) {
    if (columns !== undefined) yield linkOfRow(columns, cells);
    else {
      columns = readTitles(cells);
      onTitles(cells, columns.unread);
    }
  }
  if (columns === undefined) throw new StartError(`${file} is empty.`);
}

async function* decoded(file: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  try {
    for await (const bytes of chunks) {
      // Spreadsheets write UTF-16 with a byte order mark.
      decoder ??= new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8', { fatal: true });
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder?.decode() ?? '';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new StartError(`${file} is not a text file in UTF-8: save it as "CSV UTF-8".`);
  }
}
