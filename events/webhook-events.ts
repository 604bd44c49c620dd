import { isCodeEvent } from './catalogue.ts';
import { isScan, type LogEntry } from './entry.ts';
import { isReported, type Notification, notificationId } from './notification.ts';
import type { ReportableEntry } from './notification-types.ts';
import { publicEventOf, publicTypeOf } from './public-event.ts';
import { type PublicType, publicTypeNames, publicTypes } from './public-types.ts';

/** The public types that the webhooks of `/v1/webhooks` can get: scans, and changes of codes. */
export type WebhookEventType = Extract<PublicType, `scan.${string}` | `code.${string}`>;

const isWebhookEventType = (type: PublicType): type is WebhookEventType => /^(scan|code)\./.test(type);

export const webhookEventTypes: readonly WebhookEventType[] = publicTypeNames.filter(isWebhookEventType);

/** The types of log entries that have one of these public types. */
export const entryTypesOf = (types: readonly string[]): string[] =>
  webhookEventTypes.filter((type) => types.includes(type)).flatMap((type) => [...publicTypes[type].entries]);

/** All types of log entries that a webhook of `/v1/webhooks` can get. */
const entryTypes: ReadonlySet<string> = new Set(entryTypesOf(webhookEventTypes));

/** The public type of an entry that a webhook of `/v1/webhooks` can get; undefined for any other. */
export const webhookEventTypeOf = (entry: LogEntry): PublicType | undefined =>
  entryTypes.has(entry.type) ? publicTypeOf(entry.type) : undefined;

/** Whether any webhook can get an entry. */
export const isDeliverable = (entry: LogEntry): entry is ReportableEntry =>
  isReported(entry) || entryTypes.has(entry.type);

/** The code that a scan or an event of a code is about; undefined for any other entry. */
export function codeOfEntry(entry: LogEntry): string | undefined {
  if (isScan(entry)) return entry.code;
  return isCodeEvent(entry) ? entry.stream : undefined;
}

/** What the webhooks of `/v1/webhooks` report about an entry: the same as the event feed. */
export function eventNotificationOf(entry: LogEntry): Notification {
  const event = publicEventOf(entry);
  if (event?.qr_id === undefined) throw new Error(`Webhooks do not report ${entry.type}`);
  const { type, qr_id: code, timestamp, data } = event;
  return { id: notificationId(entry.id), type, code, timestamp, data };
}
