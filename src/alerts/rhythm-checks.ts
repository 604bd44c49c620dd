import { timezoneOf } from '../../events/account.ts';
import type { Alert, AlertOutcome, Finding, RaisedAlert } from '../../events/alert.ts';
import { hourMs } from '../analytics/calendar.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { readHours } from '../analytics/hours.ts';
import { tableInUse } from '../analytics/table-in-use.ts';
import type { Queryable } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import {
  historyHours,
  isCalm,
  type LocalClock,
  LocalScans,
  localClock,
  type ScanHistory,
  silenceOf,
  spikeOf,
} from './rhythm.ts';
import { type WatchedCode, watchedCodes } from './watched.ts';
import { AlertWriter } from './words.ts';

/** Codes of one query, each with up to 1,680 hours: a response of 2 MB at most, which takes about 50 ms to compare. */
const codesPerQuery = 100;
/** No more alerts are checked together once they watch this many codes. */
const maxCodes = 10_000;

interface CheckedAlert {
  alert: Alert;
  writer: AlertWriter;
  clock: LocalClock;
  codes: Map<string, WatchedCode>;
  raised: Map<string, RaisedAlert>;
  findings: Finding[];
  /** Subjects that are raised and not over. */
  lasting: Set<string>;
}

interface Options {
  warehouse: Warehouse;
  publicUrl: string;
  now: Date;
  signal: AbortSignal;
}

/**
 * Checks alerts of the kinds `silent` and `spike`, of any accounts together: each query reads the hours of many codes, and each
 * code is read once for all alerts that watch it. Alerts without an outcome are left for the next turn. The caller makes sure that
 * analytics have all scans up to `now`.
 */
export async function checkRhythms(
  sql: Queryable,
  alerts: Alert[],
  { warehouse, publicUrl, now, signal }: Options,
): Promise<Map<string, AlertOutcome>> {
  const checked: CheckedAlert[] = [];
  const codes = new Map<string, WatchedCode>();
  for (const alert of alerts) {
    if (codes.size >= maxCodes) break;
    const entry = await load(sql, alert, { publicUrl, now });
    checked.push(entry);
    for (const [id, code] of entry.codes) codes.set(id, code);
  }
  const all = [...codes.values()];
  const { version, definition } = await tableInUse(sql);
  const since = new Date(Math.floor(now.getTime() / hourMs - historyHours) * hourMs);
  for (let from = 0; from < all.length; from += codesPerQuery) {
    const part = all.slice(from, from + codesPerQuery);
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeouts.analyticsReadMs)]);
    const hours = await readHours({ warehouse, version, definition, signal: limited }, part, since);
    for (const code of part)
      for (const entry of checked)
        if (entry.codes.has(code.id)) checkCode(entry, code, hours.get(code.id) ?? new Map(), now);
  }
  return new Map(checked.map((entry) => [entry.alert.id, outcomeOf(entry)]));
}

async function load(
  sql: Queryable,
  alert: Alert,
  { publicUrl, now }: Pick<Options, 'publicUrl' | 'now'>,
): Promise<CheckedAlert> {
  const [codes, raised, [account]] = await Promise.all([
    watchedCodes(sql, alert, now),
    sql<RaisedAlert[]>`SELECT * FROM raised_alerts WHERE alert = ${alert.id}`,
    sql<{ timezone: string | null }[]>`SELECT timezone FROM accounts WHERE id = ${alert.account}`,
  ]);
  return {
    alert,
    writer: new AlertWriter(alert, publicUrl),
    clock: localClock(timezoneOf(account ?? { timezone: null }), now),
    codes: new Map(codes.map((code) => [code.id, code])),
    raised: new Map(raised.map((entry) => [entry.subject, entry])),
    findings: [],
    lasting: new Set(),
  };
}

function checkCode(
  { alert, writer, clock, raised, findings, lasting }: CheckedAlert,
  code: WatchedCode,
  hours: Map<number, number>,
  now: Date,
): void {
  const { id, created_at, updated_at, starts_at } = code;
  const quietSince = starts_at !== null && starts_at > updated_at ? starts_at : updated_at;
  const history: ScanHistory = {
    scans: new LocalScans(clock, hours),
    created: clock(created_at.getTime()),
    quietSince: clock(quietSince.getTime()),
  };
  const hour = clock(now.getTime());
  const before = raised.get(id);
  if (alert.kind === 'silent') {
    const silence = silenceOf(history, hour);
    if (silence !== undefined) findings.push(writer.silent(code, silence));
    if (before !== undefined && history.scans.last < clock(before.raised_at.getTime())) lasting.add(id);
    return;
  }
  const spike = spikeOf(history, hour);
  if (spike !== undefined) findings.push(writer.spike(code, spike));
  if (before !== undefined && !isCalm(history, hour)) lasting.add(id);
}

function outcomeOf({ alert, writer, codes, findings, lasting }: CheckedAlert): AlertOutcome {
  const found = new Set(findings.map(({ subject }) => subject));
  return {
    findings,
    overBecause({ subject }) {
      if (lasting.has(subject) || found.has(subject)) return undefined;
      const code = codes.get(subject);
      const { unwatched, silent, spike } = writer.texts;
      if (code === undefined) return unwatched;
      return alert.kind === 'silent' ? silent.over(code.name) : spike.over(code.name);
    },
  };
}
