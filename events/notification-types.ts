import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { CodeEvent } from './code-events.ts';
import type { LogEntry } from './entry.ts';
import { type PublicType, publicTypes } from './public-types.ts';

/** Types of log entries that a webhook can report: scans, and changes of codes. */
export type ReportableType = 'code_scanned' | CodeEvent['type'];

/** An entry of the log that a webhook can report. */
export type ReportableEntry<T extends ReportableType = ReportableType> = Extract<LogEntry, { type: T }>;

interface Definition<T extends ReportableType, D extends TObject> {
  /** Types of the log entries that it reports. Each belongs to one notification type at most. */
  entries: readonly T[];
  /** For the API's documentation: what happened, and the name of the body's schema. */
  summary: string;
  schemaName: string;
  /** For the API's documentation: `<occasion> is POSTed as a <type> event`. */
  occasion: string;
  /** For the API's documentation: what the time of the event is. */
  timestamp: string;
  /** The schema of the body's `data`. */
  data: D;
  dataOf(entry: ReportableEntry<T>): Static<D>;
}

/** A type of event that webhooks send. */
export interface NotificationType extends Omit<Definition<ReportableType, TObject>, 'dataOf'> {
  dataOf(entry: ReportableEntry): object;
}

const define = <T extends ReportableType, D extends TObject>({ dataOf, ...type }: Definition<T, D>) => ({
  ...type,
  dataOf: (entry: ReportableEntry) => dataOf(entry as ReportableEntry<T>),
});
const exact = { additionalProperties: false };

/**
 * The public types that webhooks send, with the data of the contract. The projection, deliveries, `verify` and the API's documentation follow from an
 * entry here (events/notification.ts); the body is `{ event, timestamp, data }`.
 */
export const notificationTypes = {
  'scan.created': define({
    entries: publicTypes['scan.created'].entries,
    summary: 'A code was scanned',
    schemaName: 'ScanEvent',
    occasion: 'Every scan',
    timestamp: 'When the scan happened.',
    data: Type.Object(
      {
        qr_id: Type.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
        scan_id: Type.String({ examples: ['scan_0VMOcq2hE3kx0dTtWq8LbY'] }),
        country: Type.String({ examples: ['DE'] }),
        city: Type.String({ examples: ['Berlin'] }),
        device: Type.String({ examples: ['ios'] }),
        is_unique: Type.Boolean(),
      },
      exact,
    ),
    dataOf: ({ code, id, country, city, device, is_unique }) => ({
      ...{ qr_id: code, scan_id: id, country, city, device, is_unique },
    }),
  }),
} satisfies Partial<Record<PublicType, NotificationType>>;

/** The data of `scan.created`. */
export type ScanCreated = Static<(typeof notificationTypes)['scan.created']['data']>;
