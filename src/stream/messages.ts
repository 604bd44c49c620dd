import { isScan, type LogEntry, type LogRange } from '../../events/entry.ts';
import { encodeChange, encodeChanges, encodeScans } from '../../events/wire/stream-message.ts';

const maxMessageEntries = 500;
const maxMessageBytes = 256 * 1024;

/** Changes of codes and accounts have their own subject, so that edges receive them without the scans. */
export const subjects = (stream: string) => ({ changes: `${stream}.changes`, scans: `${stream}.scans` });

export interface Message {
  kind: 'changes' | 'scans';
  after: number;
  to: number;
  data: string;
}

/**
 * Splits a range into messages of one kind each, within the limits above. The same range is always split the same way, and
 * each message contains its range, so a reader detects missing and repeated messages.
 */
export function cut({ after, to, entries }: LogRange): Message[] {
  const messages: Message[] = [];
  let run: string[] = [];
  let bytes = 0;
  let kind: Message['kind'] = 'scans';
  let start = after;
  let last: LogEntry | undefined;
  const flush = (end: number) => {
    const range = { after: start, to: end };
    messages.push({ kind, ...range, data: kind === 'scans' ? encodeScans(range, run) : encodeChanges(range, run) });
    run = [];
    bytes = 0;
    start = end;
  };
  for (const entry of entries) {
    const ofKind = isScan(entry) ? 'scans' : 'changes';
    const text = isScan(entry) ? entry.line : encodeChange(entry);
    if (run.length > 0 && (ofKind !== kind || run.length >= maxMessageEntries || bytes + text.length > maxMessageBytes))
      flush(last?.position ?? start);
    kind = ofKind;
    run.push(text);
    bytes += text.length;
    last = entry;
  }
  // Positions after the last entry were drawn and rolled back: the last message covers them.
  if (run.length > 0) flush(to);
  return messages;
}
