/** How to join chunks of a format: each of them begins with the same header lines. */
interface Chunking {
  headerLines: number;
  /** A line break inside quotes does not end a line. */
  quoted: boolean;
}

const lineFormat =
  /^(?:JSON(?:Compact)?(?:Strings)?EachRow|JSONLines|NDJSON|CSV|TSV(?:Raw)?|TabSeparated(?:Raw)?|TSKV)(WithNames(AndTypes)?)?$/;

/** Undefined for a format that cannot be streamed (`JSON`, `Parquet`, `Pretty`, …). */
export function chunking(format: string): Chunking | undefined {
  if (format === 'RowBinary' || format === 'Native') return { headerLines: 0, quoted: false };
  const match = lineFormat.exec(format);
  if (match === null) return undefined;
  const headerLines = match[2] !== undefined ? 2 : match[1] !== undefined ? 1 : 0;
  return { headerLines, quoted: format.startsWith('CSV') };
}

/** Removes the header of a `…WithNames` format, which chdb writes into every chunk, from all chunks but the first. */
export async function* joinChunks(
  chunks: AsyncIterable<Uint8Array>,
  { headerLines, quoted }: Chunking,
): AsyncGenerator<Uint8Array> {
  let header: number | undefined;
  for await (const chunk of chunks) {
    const rows = header === undefined ? chunk : chunk.subarray(header);
    header ??= lengthOfLines(chunk, headerLines, quoted);
    if (rows.length > 0) yield rows;
  }
}

function lengthOfLines(bytes: Uint8Array, lines: number, quoted: boolean): number {
  let left = lines;
  let open = false;
  for (let i = 0; i < bytes.length && left > 0; i += 1) {
    if (quoted && bytes[i] === 0x22) open = !open;
    if (bytes[i] === 0x0a && !open) left -= 1;
    if (left === 0) return i + 1;
  }
  return 0;
}

/** CSV and raw text may contain CR LF, which the client would read as the marker of an error after rows. */
export const mayHoldFaultMark = (format: string) => /^(?:CSV|TSVRaw|TabSeparatedRaw)/.test(format);

export function contentType(format: string): string {
  if (/^(?:JSON\w*EachRow|JSONLines|NDJSON)/.test(format)) return 'application/x-ndjson; charset=UTF-8';
  if (format.startsWith('JSON')) return 'application/json; charset=UTF-8';
  if (format.startsWith('CSV')) return 'text/csv; charset=UTF-8';
  if (/^(?:TSV|TabSeparated)/.test(format)) return 'text/tab-separated-values; charset=UTF-8';
  return /^(?:RowBinary|Native|Parquet|Arrow|ORC|Avro|MsgPack)/.test(format)
    ? 'application/octet-stream'
    : 'text/plain; charset=UTF-8';
}
