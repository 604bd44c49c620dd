import { type Static, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { defaultLanguage } from './languages.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';
import { changedSettings } from './settings-change.ts';

const text = Type.String();
const exact = { additionalProperties: false };
const mode = oneOf(modes);
const orNull = Type.Union([text, Type.Null()]);
const list = Type.Union([Type.Array(text), Type.Null()]);

/**
 * What an alert watches. `silent`: a code is no longer scanned as usual. `spike`: it is scanned far more than usual. `limit_near`:
 * a limit is nearly used up. `destination_down`: a website that a code leads to does not answer. `domain_failing`: the DNS
 * records of a custom domain are gone.
 */
export const alertKinds = ['silent', 'spike', 'limit_near', 'destination_down', 'domain_failing'] as const;
export type AlertKind = (typeof alertKinds)[number];
const kind = oneOf(alertKinds);

/** What the owner can change. `codes` and `tags` are null for all codes; at most one of them is set. */
export const alertSettings = {
  name: text,
  codes: list,
  tags: list,
  /** The share of a limit from which `limit_near` warns. */
  percent: Type.Integer(),
  active: Type.Boolean(),
  /** In which findings are written. */
  language: text,
};
const settings = Type.Object(alertSettings, exact);
const someSettings = Type.Partial(settings, exact);
export type AlertSettings = Static<typeof settings>;

/** One thing that an alert has found, with all that a message about it needs, so that the event can be read alone. */
const finding = {
  /** What it is about, unique in the alert: the id of a code or domain, or the name of a limit. */
  subject: text,
  code: orNull,
  domain: orNull,
  title: text,
  message: text,
  /** The page of the console that shows more. */
  link: text,
};
const findingSchema = Type.Object(finding, exact);
export type Finding = Static<typeof findingSchema>;

const identity = { alert: text, mode };
const about = { ...identity, kind, name: text, ...finding };

/** Events of the alerts of an account. */
export const alertEvents = {
  /** Schema 1 had no `language`. */
  alert_created: defineEvent(2, Type.Object({ ...identity, kind, ...alertSettings }, exact), {
    1: (old) => ({ ...old, language: defaultLanguage }),
  }),
  alert_changed: defineEvent(2, Type.Object({ ...identity, from: someSettings, to: someSettings }, exact), {
    1: (old) => old,
  }),
  /** Whatever it had raised ends with it. */
  alert_removed: defineEvent(1, Type.Object(identity, exact)),
  alert_raised: defineEvent(1, Type.Object(about, exact)),
  alert_cleared: defineEvent(1, Type.Object({ ...about, raised_at: text }, exact)),
};

export type AlertEvent = EventOf<typeof alertEvents>;
export type AlertOutcomeEvent = Extract<AlertEvent, { type: 'alert_raised' | 'alert_cleared' }>;

export const isAlertOutcome = <E extends { type: string }>(event: E): event is E & AlertOutcomeEvent =>
  event.type === 'alert_raised' || event.type === 'alert_cleared';

export interface Alert extends AlertSettings {
  id: string;
  account: string;
  mode: Mode;
  kind: AlertKind;
  created_at: Date;
}

/** A finding that was reported, and that is not over. */
export interface RaisedAlert extends Finding {
  alert: string;
  raised_at: Date;
}

const settingsOf = ({ name, codes, tags, percent, active, language }: Alert): AlertSettings => ({
  name,
  codes,
  tags,
  percent,
  active,
  language,
});

/** Only what differs is in the event. */
export function changeAlert(alert: Alert, to: Partial<AlertSettings>): AlertEvent[] {
  const change = changedSettings(settingsOf(alert), to);
  const { id, mode } = alert;
  return change === undefined ? [] : [{ type: 'alert_changed', data: { alert: id, mode, ...change } }];
}

export const removeAlert = ({ id, mode }: Alert): AlertEvent[] => [
  { type: 'alert_removed', data: { alert: id, mode } },
];

/** Findings that one alert may have raised at a time; more are raised when others are over. */
export const maxRaised = 100;

/** What a check of an alert has found. */
export interface AlertOutcome {
  findings: Finding[];
  /** Why a subject that was raised is over, as a sentence; undefined while it is not. */
  overBecause(raised: RaisedAlert): string | undefined;
}

/** Each finding is reported once, and is then quiet until it is over. */
export function decideOutcome(alert: Alert, raised: RaisedAlert[], outcome: AlertOutcome): AlertOutcomeEvent[] {
  const { id, mode, kind, name } = alert;
  const about = { alert: id, mode, kind, name };
  const cleared = raised.flatMap((before): AlertOutcomeEvent[] => {
    const message = outcome.overBecause(before);
    if (message === undefined) return [];
    const { subject, code, domain, title, link, raised_at } = before;
    const data = { ...about, subject, code, domain, title, message, link, raised_at: raised_at.toISOString() };
    return [{ type: 'alert_cleared', data }];
  });
  const known = new Set(raised.map(({ subject }) => subject));
  const slots = Math.max(0, maxRaised - raised.length + cleared.length);
  const fresh = outcome.findings.filter(({ subject }) => !known.has(subject)).slice(0, slots);
  return [
    ...cleared,
    ...fresh.map((found): AlertOutcomeEvent => ({ type: 'alert_raised', data: { ...about, ...found } })),
  ];
}
