import { type Static, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { defaultLanguage } from './languages.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';
import { type ReportInterval, reportIntervals } from './report-periods.ts';
import { changedSettings } from './settings-change.ts';

const text = Type.String();
const exact = { additionalProperties: false };
const mode = oneOf(modes);
const list = Type.Union([Type.Array(text), Type.Null()]);

export const reportFormats = ['pdf', 'csv'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** What the owner can change. Addresses are personal data: the log has their number, `mail_recipients` has them. */
const fields = {
  name: text,
  every: oneOf(reportIntervals),
  /** IANA name of the time zone in which periods begin. */
  timezone: text,
  format: oneOf(reportFormats),
  language: text,
  recipients: Type.Integer(),
};
const reportSettings = { ...fields, codes: list, tags: list };
const publicSettings = { ...fields, qr_ids: list, tags: list };

const settings = Type.Object(reportSettings, exact);
const someSettings = Type.Partial(settings, exact);
export type ReportSettings = Static<typeof settings>;

/** Events of the reports that an account mails. */
export const reportEvents = {
  /** Schema 1 had no `language`. */
  report_created: defineEvent(2, Type.Object({ report: text, mode, ...reportSettings }, exact), {
    1: (old) => ({ ...old, language: defaultLanguage }),
  }),
  report_changed: defineEvent(2, Type.Object({ report: text, mode, from: someSettings, to: someSettings }, exact), {
    1: (old) => old,
  }),
  report_removed: defineEvent(1, Type.Object({ report: text, mode }, exact)),
};

const reportId = Type.String({ description: 'Identifier of the report.', examples: ['rpt_0VMNcq2hE3kx0dTtWq8LbY'] });
const somePublicSettings = Type.Partial(Type.Object(publicSettings, exact), exact);

/** What the owner sees of each event. */
export const publicReport = {
  created: Type.Object({ report_id: reportId, mode, ...publicSettings }, exact),
  changed: Type.Object({ report_id: reportId, mode, from: somePublicSettings, to: somePublicSettings }, exact),
  removed: Type.Object({ report_id: reportId, mode }, exact),
};

export type ReportEvent = EventOf<typeof reportEvents>;

/** Statistics that are mailed once for each period. */
export interface Report {
  id: string;
  account: string;
  mode: Mode;
  name: string;
  every: ReportInterval;
  timezone: string;
  format: ReportFormat;
  language: string;
  recipients: number;
  codes: string[] | null;
  /** In lower case. */
  tags: string[] | null;
  created_at: Date;
}

const settingsOf = (report: Report): ReportSettings => {
  const { name, every, timezone, format, language, recipients, codes, tags } = report;
  return { name, every, timezone, format, language, recipients, codes, tags };
};

/** Only what differs is in the event, and the number of other recipients, which the log cannot compare. */
export function changeReport(report: Report, to: Partial<ReportSettings>, hasOtherRecipients: boolean): ReportEvent[] {
  const isNew = (field: string) => field === 'recipients' && hasOtherRecipients;
  const change = changedSettings(settingsOf(report), to, isNew);
  const { id, mode } = report;
  return change === undefined ? [] : [{ type: 'report_changed', data: { report: id, mode, ...change } }];
}

export const removeReport = ({ id, mode }: Report): ReportEvent[] => [
  { type: 'report_removed', data: { report: id, mode } },
];
