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

/** Entries as the API of the source returns them: a list of them, one page, or a list of pages. */
async function* readJson({ source, from }: ReadOptions, bytes: number): AsyncGenerator<LinkPage> {
  const reader = sourceOf(source);
  if (reader === undefined) throw new StartError(`${source} is read from a table (CSV), not from JSON.`);
  if (bytes > maxJsonBytes) throw new StartError(`${from} is larger than 64 MB: split it.`);
  const content = await parseJson(from);
  const entries = (Array.isArray(content) ? content : [content]).filter(isItem);
  const items = entries.flatMap((entry) => {
    const page = reader.itemsOf(entry).filter(isItem);
    return page.length === 0 ? [entry] : page;
  });
  const links = items.flatMap((item) => reader.readItem(item));
  for (let i = 0; i < links.length; i += rowsPerPage)
    yield { links: links.slice(i, i + rowsPerPage), total: links.length };
}

async function parseJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new StartError(`${file} is not JSON: ${messageOf(error)}.`);
  }
}

async function* readTable({ from, onUnread }: ReadOptions): AsyncGenerator<LinkPage> {
  let columns: ReturnType<typeof readTitles> | undefined;
  let links: SourceLink[] = [];
  for await (const { cells } of readCsv(textOfFile(from))) {
    if (columns === undefined) {
      columns = readTitles(cells);
      if (columns.unread.length > 0) onUnread(columns.unread);
      continue;
    }
    links.push(linkOfRow(columns, cells));
    if (links.length < rowsPerPage) continue;
    yield { links };
    links = [];
  }
  if (columns === undefined) throw new StartError(`${from} is empty.`);
  if (links.length > 0) yield { links };
}

async function* textOfFile(file: string): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  try {
    for await (const bytes of createReadStream(file) as AsyncIterable<Uint8Array>) {
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
