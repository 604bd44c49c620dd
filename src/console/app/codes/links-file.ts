import { recognizeJson, recognizeTitles } from '../../../imports/recognize.ts';
import type { SourceName } from '../../../imports/source-names.ts';
import { parseTable } from './csv.ts';
import { type DecodedFile, decodeFile, problemWithFile } from './decode.ts';

export const sourceLabels: Record<SourceName, string> = {
  bitly: 'Bitly',
  dub: 'Dub',
  shlink: 'Shlink',
  kutt: 'Kutt',
  yourls: 'YOURLS',
  rebrandly: 'Rebrandly',
  'short-io': 'Short.io',
  csv: 'Another service, or a table',
};

const maxMegabytes = 4;

/** An export of another service, as it is sent. */
export interface LinksFile extends DecodedFile {
  name: string;
  /** In UTF-8, with the media type that the service expects. */
  content: Blob;
  /** Undefined if the file could be of any service. */
  recognized: SourceName | undefined;
  /** How many links it has; undefined where only the service can count them. */
  count: number | undefined;
}

/** Reads and recognizes a file; throws an `Error` with what is wrong with it. */
export async function readLinksFile(file: File): Promise<LinksFile> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const decoded = decodeFile(bytes);
  const content = new Blob([decoded.text], { type: isJson(file) ? 'application/json' : 'text/csv' });
  const problem = problemWithFile(bytes, maxMegabytes) ?? (content.size === 0 ? 'The file is empty.' : undefined);
  if (problem !== undefined) throw new Error(problem);
  return { ...decoded, name: file.name, content, ...recognize(file, decoded.text) };
}

const isJson = ({ name, type }: File) => /\.json$/i.test(name) || type === 'application/json';

function recognize(file: File, text: string): Pick<LinksFile, 'recognized' | 'count'> {
  if (isJson(file)) return { recognized: recognizeJson(parseJson(text)), count: undefined };
  const [titles, ...rows] = parseTable(text);
  return { recognized: recognizeTitles(titles?.cells ?? []), count: rows.length };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The file is not valid JSON.');
  }
}
