import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { StartError } from '../lib/errors.ts';
import type { SourceLink } from './link.ts';
import { linksOfJson, linksOfTable, parseJson } from './read-links.ts';
import { recognizeJson, recognizeTitles } from './recognize.ts';
import type { SourceName } from './source-names.ts';

/** More come by the command of the operator, which reads files of any size. */
export const maxUploadedLinks = 10_000;

/** Bytes of a table, or links of a JSON file, that are read before other requests get their turn: a few milliseconds. */
const bytesPerTurn = 16 * 1024;
const linksPerTurn = 500;

export interface UploadedFile {
  bytes: Uint8Array;
  isJson: boolean;
}

/** The links of a file. All of them are read before the first is imported, so that a file with an error changes nothing. */
export interface UploadedLinks {
  source: SourceName;
  links: SourceLink[];
  /** Titles of columns that are not read. */
  unread: string[];
}

/** Reads an uploaded file; `source` is recognized unless it is given. Throws a `StartError` for one that cannot be imported. */
export const readUploaded = (file: UploadedFile, source: SourceName | undefined): Promise<UploadedLinks> =>
  file.isJson ? readUploadedJson(file.bytes, source) : readUploadedTable(file.bytes, source);

async function readUploadedTable(bytes: Uint8Array, given: SourceName | undefined): Promise<UploadedLinks> {
  const read: UploadedLinks = { source: given ?? 'csv', links: [], unread: [] };
  const onTitles = (titles: string[], unread: string[]) => {
    read.source = given ?? recognizeTitles(titles) ?? 'csv';
    read.unread = unread;
  };
  for await (const link of linksOfTable('The file', piecesOf(bytes), onTitles)) add(read.links, link);
  return read;
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += bytesPerTurn) {
    yield bytes.subarray(from, from + bytesPerTurn);
    await yieldToEventLoop();
  }
}

async function readUploadedJson(bytes: Uint8Array, given: SourceName | undefined): Promise<UploadedLinks> {
  const content = parseJson('The file', new TextDecoder().decode(bytes));
  const source = given ?? recognizeJson(content);
  if (source === undefined)
    throw new StartError('The file is JSON of a service that is not recognized: name it in source.');
  const links: SourceLink[] = [];
  for (const link of linksOfJson(source, content)) {
    add(links, link);
    if (links.length % linksPerTurn === 0) await yieldToEventLoop();
  }
  return { source, links, unread: [] };
}

function add(links: SourceLink[], link: SourceLink): void {
  if (links.length === maxUploadedLinks)
    throw new StartError(
      `The file has more than ${maxUploadedLinks.toLocaleString('en')} links: split it, or ask the operator of the service to import it.`,
    );
  links.push(link);
}
