import { isScan, type LogEntry } from './entry.ts';
import { type NotificationType, notificationTypes, type ReportableEntry } from './notification-types.ts';
import type { Owner } from './owner.ts';

/** What a webhook reports about one entry of the log. */
export interface Notification {
  /** `whd_…`: the id of the entry with another prefix, so that an entry is reported once. */
  id: string;
  /** A type of `notificationTypes`, or of a newer version. */
  type: string;
  /** The code that it is about. */
  code: string;
  timestamp: Date;
  data: object;
}

const byEntryType = new Map<string, { type: string; definition: NotificationType }>();
for (const [type, definition] of Object.entries<NotificationType>(notificationTypes)) {
  for (const entryType of definition.entries) {
    const other = byEntryType.get(entryType)?.type;
    if (other !== undefined) throw new Error(`${entryType} is reported as ${other} and as ${type}: choose one`);
    byEntryType.set(entryType, { type, definition });
  }
}

/** The types of log entries that webhooks report. */
export const reportedTypes: ReadonlySet<string> = new Set(byEntryType.keys());

export const isReported = (entry: LogEntry): entry is ReportableEntry => byEntryType.has(entry.type);

export function notificationOf(entry: ReportableEntry): Notification {
  const reported = byEntryType.get(entry.type);
  if (reported === undefined) throw new Error(`Webhooks do not report ${entry.type}`);
  const { type, definition } = reported;
  const { code } = subjectOf(entry);
  return { id: notificationId(entry.id), type, code, timestamp: entry.occurred_at, data: definition.dataOf(entry) };
}

/** @example notificationId('scan_0VMOcq2hE3kx0dTtWq8LbY') // 'whd_0VMOcq2hE3kx0dTtWq8LbY' */
export const notificationId = (entryId: string) => `whd_${entryId.slice(entryId.indexOf('_') + 1)}`;

/** The code that an entry is about, and the code's owner if the entry names it. */
export function subjectOf(entry: ReportableEntry): { code: string; owner: Owner | undefined } {
  if (isScan(entry)) return { code: entry.code, owner: { account: entry.account, mode: entry.mode } };
  const isNamed = entry.type === 'code_created' || entry.type === 'code_erased';
  return { code: entry.stream, owner: isNamed ? { account: entry.data.account, mode: entry.data.mode } : undefined };
}
