import { type Change, isScan, type LogEntry, type LogRange } from '../../events/entry.ts';
import { ScanLine } from '../../events/scan-line.ts';

const most = { entries: 500, bytes: 256 * 1024 };

/** Changes of codes and accounts have a subject of their own, so that edges need not read the scans to hear them. */
export const subjects = (stream: string) => ({ changes: `${stream}.changes`, scans: `${stream}.scans` });

export interface Message {
  kind: 'changes' | 'scans';
  after: number;
  to: number;
  data: string;
}

/**
 * Cuts a range into messages: runs of one kind, none too large. Where it cuts depends on the range alone, and each
 * message says from where to where it goes, so whoever reads it sees when something is missing or comes again. Scans
 * follow as the log's own lines, changes as JSON.
 */
export function cut({ after, to, entries }: LogRange): Message[] {
  const messages: Message[] = [];
  let run: string[] = [];
  let bytes = 0;
  let kind: Message['kind'] = 'scans';
  let start = after;
  let last: LogEntry | undefined;
  const flush = (end: number) => {
    const place = `{"after":${start},"to":${end}`;
    const data = kind === 'scans' ? `${place}}\n${run.join('\n')}` : `${place},"entries":[${run.join(',')}]}`;
    messages.push({ kind, after: start, to: end, data });
    run = [];
    bytes = 0;
    start = end;
  };
  for (const entry of entries) {
    const ofKind = isScan(entry) ? 'scans' : 'changes';
    const text = isScan(entry) ? entry.line : JSON.stringify(entry);
    if (run.length > 0 && (ofKind !== kind || run.length >= most.entries || bytes + text.length > most.bytes))
      flush(last?.position ?? start);
    kind = ofKind;
    run.push(text);
    bytes += text.length;
    last = entry;
  }
  // Positions behind the last entry were drawn and rolled back: the last message covers them.
  if (run.length > 0) flush(to);
  return messages;
}

const decoder = new TextDecoder();

export function decode(data: Uint8Array): LogRange {
  const text = decoder.decode(data);
  const end = text.indexOf('\n');
  // JSON has no line break of its own.
  if (end !== -1) {
    const lines = text.slice(end + 1).split('\n');
    return { ...JSON.parse(text.slice(0, end)), entries: lines.map((line) => new ScanLine(line)) };
  }
  const range: LogRange & { entries: Change[] } = JSON.parse(text);
  for (const entry of range.entries) entry.occurred_at = new Date(entry.occurred_at);
  return range;
}
