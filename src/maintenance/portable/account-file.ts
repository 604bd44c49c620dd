import { createHash } from 'node:crypto';
import { StartError } from '../../lib/errors.ts';
import { parseLine, textOf } from '../compressed-lines.ts';

/**
 * An account file is one stream of lines, compressed with zstd: first the header; then the sections, each begun by a line that
 * names it; last the number of lines of each section and a checksum of everything before. A file without the last line is
 * incomplete. docs/account-file.md describes every line. Version 1 had no records of reports and alerts.
 */
export const format = 2;

/** In this order. */
export const sections = ['records', 'visitors', 'entries'] as const;
export type Section = (typeof sections)[number];

export interface FileHeader {
  scanlog_account: number;
  /** The version of Scanlog that wrote it. */
  version: string;
  created_at: string;
  account: string;
  name: string;
  /** The last position of the log. */
  position: number;
  /** The version of scan lines (events/scan-line.ts). */
  scan_lines: number;
  /** The fingerprint of the key of its secrets. */
  key: string;
}

export interface FileEnd {
  records: number;
  visitors: number;
  entries: number;
  sha256: string;
}

/** Consecutive lines of one section; a large section comes in many pieces. */
export interface FilePiece {
  section: Section;
  lines: string[];
}

/** An account file that is being read. */
export interface OpenAccountFile {
  header: FileHeader;
  /** All lines. The last step compares the checksum and the number of lines, throws when they do not match, and returns them. */
  pieces: AsyncGenerator<FilePiece, FileEnd>;
}

export const sectionLine = (section: Section) => `{"section":"${section}"}\n`;

const unknown = (file: string) => new StartError(`${file} is not an account file of Scanlog.`);
export const damaged = (file: string, reason: string) =>
  new StartError(`${file} is damaged or incomplete, and nothing of it was imported: ${reason}.`);

export async function openAccountFile(file: string): Promise<OpenAccountFile> {
  const chunks = textOf(file, { unknown, damaged });
  const { value: first } = await chunks.next();
  if (first === undefined) throw damaged(file, 'it ends before its first line does');
  const header = parseLine<FileHeader>(first.slice(0, first.indexOf('\n')));
  if (typeof header?.scanlog_account !== 'number') throw unknown(file);
  if (header.scanlog_account > format)
    throw new StartError(
      `${file} was written by Scanlog ${header.version} in a newer format: import it with that version or a newer one.`,
    );
  return { header, pieces: readPieces(file, first, chunks) };
}

async function* readPieces(
  file: string,
  first: string,
  chunks: AsyncGenerator<string, void>,
): AsyncGenerator<FilePiece, FileEnd> {
  const checksum = createHash('sha256');
  const counts: Record<Section, number> = { records: 0, visitors: 0, entries: 0 };
  let section: Section | undefined;
  let end: FileEnd | undefined;

  function read(text: string, skipped: number): FilePiece[] {
    const pieces: FilePiece[] = section === undefined ? [] : [{ section, lines: [] }];
    const lines = text.slice(0, -1).split('\n').slice(skipped);
    for (const line of lines) {
      if (end !== undefined) throw damaged(file, 'more lines follow its end line');
      if (line.startsWith('{"section":')) {
        section = nextSection(file, section, line);
        pieces.push({ section, lines: [] });
      } else if (line.startsWith('{"end":')) {
        end = parseLine<{ end: FileEnd }>(line)?.end;
        checksum.update(text.slice(0, text.lastIndexOf(line)));
      } else {
        if (section === undefined) throw damaged(file, 'it has lines before its first section');
        pieces.at(-1)?.lines.push(line);
        counts[section]++;
      }
    }
    if (end === undefined) checksum.update(text);
    return pieces.filter((piece) => piece.lines.length > 0);
  }

  yield* read(first, 1);
  for await (const text of chunks) yield* read(text, 0);
  if (end === undefined) throw damaged(file, 'its end line is missing');
  if (end.sha256 !== checksum.digest('hex')) throw damaged(file, 'its checksum is wrong');
  for (const name of sections)
    if (counts[name] !== end[name]) throw damaged(file, `it has ${counts[name]} of ${end[name]} ${name}`);
  return end;
}

function nextSection(file: string, before: Section | undefined, line: string): Section {
  const next = sections[before === undefined ? 0 : sections.indexOf(before) + 1];
  if (next === undefined || parseLine<{ section: string }>(line)?.section !== next)
    throw damaged(file, 'its sections are not in their order');
  return next;
}
