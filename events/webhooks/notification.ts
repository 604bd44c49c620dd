import { type Static, Type } from '@sinclair/typebox';
import { type AlertOutcomeEvent, isAlertOutcome } from '../alert.ts';
import type { CodeEvent } from '../code-events.ts';
import { isScan, type LogEntry } from '../entry.ts';
import type { Owner } from '../owner.ts';
import { publicEventOf } from '../public-event.ts';
import type { BodyFormat } from './webhook.ts';

/** An entry of the log that a webhook can report: a scan, a change of a code, or what an alert has found. */
export type ReportableEntry = Extract<
  LogEntry,
  { type: 'code_scanned' | CodeEvent['type'] | AlertOutcomeEvent['type'] }
>;

/** What a webhook reports about one entry of the log. */
export interface Notification {
  /** `whd_…`: the id of the entry with another prefix, so that an entry is reported once. */
  id: string;
  /** A public type (events/public-types.ts), or one of a newer version. */
  type: string;
  /** The code that it is about; empty if it is about none. */
  code: string;
  timestamp: Date;
  data: object;
}

/** The schema of the data of `scan.created` in the body of the contract. */
export const contractScan = Type.Object(
  {
    qr_id: Type.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
    scan_id: Type.String({ examples: ['scan_0VMOcq2hE3kx0dTtWq8LbY'] }),
    country: Type.String({ examples: ['DE'] }),
    city: Type.String({ examples: ['Berlin'] }),
    device: Type.String({ examples: ['ios'] }),
    is_unique: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type ContractScan = Static<typeof contractScan>;

/** What a webhook with this body reports about an entry: what the contract names of a scan, or the same as the event feed. */
export function notificationOf(entry: LogEntry, body: BodyFormat): Notification {
  const id = notificationId(entry.id);
  if (body === 'contract' && isScan(entry)) {
    const { code, country, city, device, is_unique } = entry;
    const data: ContractScan = { qr_id: code, scan_id: entry.id, country, city, device, is_unique };
    return { id, type: 'scan.created', code, timestamp: entry.occurred_at, data };
  }
  const event = publicEventOf(entry);
  const code = isAlertOutcome(entry) ? (entry.data.code ?? '') : event?.qr_id;
  if (event === undefined || code === undefined) throw new Error(`Webhooks do not report ${entry.type}`);
  return { id, type: event.type, code, timestamp: event.timestamp, data: event.data };
}

/** @example notificationId('scan_0VMOcq2hE3kx0dTtWq8LbY') // 'whd_0VMOcq2hE3kx0dTtWq8LbY' */
export const notificationId = (entryId: string) => `whd_${entryId.slice(entryId.indexOf('_') + 1)}`;

/** The code that an entry is about, and its owner if the entry names it. */
export function subjectOf(entry: ReportableEntry): { code: string; owner: Owner | undefined } {
  if (isScan(entry)) return { code: entry.code, owner: { account: entry.account, mode: entry.mode } };
  if (isAlertOutcome(entry))
    return { code: entry.data.code ?? '', owner: { account: entry.stream, mode: entry.data.mode } };
  const isNamed = entry.type === 'code_created' || entry.type === 'code_erased';
  return { code: entry.stream, owner: isNamed ? { account: entry.data.account, mode: entry.data.mode } : undefined };
}
