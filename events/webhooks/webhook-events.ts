import { isAlertOutcome } from '../alert.ts';
import { isCodeEvent } from '../catalogue.ts';
import { isScan, type LogEntry } from '../entry.ts';
import { publicTypeOf } from '../public-event.ts';
import { type PublicType, publicTypeNames, publicTypes } from '../public-types.ts';
import type { ReportableEntry } from './notification.ts';

/** The public types that webhooks can get: scans, changes of codes, and what alerts have found. */
export type WebhookEventType = Extract<
  PublicType,
  `scan.${string}` | `code.${string}` | 'alert.raised' | 'alert.cleared'
>;

const isWebhookEventType = (type: PublicType): type is WebhookEventType =>
  /^(?:(?:scan|code)\.|alert\.(?:raised|cleared)$)/.test(type);

export const webhookEventTypes: readonly WebhookEventType[] = publicTypeNames.filter(isWebhookEventType);

/** The types of log entries that have one of these public types. */
export const entryTypesOf = (types: readonly string[]): string[] =>
  webhookEventTypes.filter((type) => types.includes(type)).flatMap((type) => [...publicTypes[type].entries]);

/** All types of log entries that a webhook can get. */
const entryTypes: ReadonlySet<string> = new Set(entryTypesOf(webhookEventTypes));

/** Whether any webhook can get an entry. */
export const isDeliverable = (entry: LogEntry): entry is ReportableEntry => entryTypes.has(entry.type);

/** The public type of an entry that a webhook can get; undefined for any other. */
export const webhookEventTypeOf = (entry: LogEntry): PublicType | undefined =>
  isDeliverable(entry) ? publicTypeOf(entry.type) : undefined;

/** The code that an entry for webhooks is about, empty for an alert that is about none; undefined for any other entry. */
export function codeOfEntry(entry: LogEntry): string | undefined {
  if (isScan(entry)) return entry.code;
  if (isAlertOutcome(entry)) return entry.data.code ?? '';
  return isCodeEvent(entry) ? entry.stream : undefined;
}
