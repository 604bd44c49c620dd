import type { LogEntry, LogRange } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';

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
 * message says from where to where it goes, so whoever reads it sees when something is missing or comes again.
 */
export function cut({ after, to, entries }: LogRange): Message[] {
  const messages: Message[] = [];
  let run: string[] = [];
  let bytes = 0;
  let kind: Message['kind'] = 'scans';
  let start = after;
  let last = after;
  const flush = (end: number) => {
    messages.push({ kind, after: start, to: end, data: `{"after":${start},"to":${end},"entries":[${run.join(',')}]}` });
    run = [];
    bytes = 0;
    start = end;
  };
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    const ofKind = isScan(entry) ? 'scans' : 'changes';
    if (run.length > 0 && (ofKind !== kind || run.length >= most.entries || bytes + text.length > most.bytes))
      flush(last);
    kind = ofKind;
    run.push(text);
    bytes += text.length;
    last = entry.position;
  }
  // Positions behind the last entry were drawn and rolled back: the last message covers them.
  if (run.length > 0) flush(to);
  return messages;
}

export function decode(data: Uint8Array): LogRange {
  const range: LogRange = JSON.parse(new TextDecoder().decode(data));
  for (const entry of range.entries as LogEntry[]) entry.occurred_at = new Date(entry.occurred_at);
  return range;
}
