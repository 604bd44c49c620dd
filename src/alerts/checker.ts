import type { AccountEvent } from '../../events/account.ts';
import type { Alert, AlertKind, AlertOutcome } from '../../events/alert.ts';
import type { Recorded } from '../../events/recorded.ts';
import { hourMs } from '../analytics/calendar.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { tableInUse } from '../analytics/table-in-use.ts';
import type { Clock } from '../lib/clock.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { headOfLog } from '../log/read.ts';
import { type MailOutcome, recordOutcome } from './alerts.ts';
import { type CheckOptions, checkDestinations, checkDomains, checkLimits, pausedOutcome } from './checks.ts';
import { checkRhythms } from './rhythm-checks.ts';

const minuteMs = 60_000;
/** Alerts of one turn, so that it ends soon. Alerts of one kind of rhythm share their queries. */
const maxDue = 32;

/** After this time an alert is checked again. Rhythms are compared by complete hours. */
const everyMs: Record<Exclude<AlertKind, 'silent' | 'spike'>, number> = {
  limit_near: 5 * minuteMs,
  destination_down: 5 * minuteMs,
  domain_failing: minuteMs,
};
/** After a check that has failed. */
const retryMs = minuteMs;
/** After the end of an hour, for scans that are stored late. */
const rhythmDelayMs = 3 * minuteMs;

const isRhythm = (kind: AlertKind): kind is 'silent' | 'spike' => kind === 'silent' || kind === 'spike';

/** When an alert that was checked at `now` is checked next. */
export function nextCheckAt(kind: AlertKind, now: Date): Date {
  if (!isRhythm(kind)) return new Date(now.getTime() + everyMs[kind]);
  return new Date((Math.floor(now.getTime() / hourMs) + 1) * hourMs + rhythmDelayMs);
}

interface CheckerOptions extends CheckOptions {
  sql: Sql;
  warehouse: Warehouse;
  clock: Clock;
  stopping: AbortSignal;
  /** Undefined if this service sends no mail. */
  mail: MailOutcome | undefined;
  /** Called with the events of each check after its commit. */
  onRecorded(events: Recorded<AccountEvent>[]): void;
  onError(alert: Alert, error: unknown): void;
}

/** Checks the alerts that are due, and appends what they find. */
export class AlertChecker {
  readonly #options: CheckerOptions;
  /** Rhythms that were due, and the end of the log then: they are compared once analytics have reached it. */
  #awaited: { rhythms: string[]; position: number } | undefined;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** Checks alerts that are due, and resolves to whether there may be more of them. */
  async checkDue(): Promise<boolean> {
    const { sql, clock } = this.#options;
    const now = clock();
    const due = await dueAlerts(sql, now, { rhythms: await this.#readyRhythms(now), limit: maxDue });
    const rhythms = due.filter(({ alert: { kind, active } }) => active && isRhythm(kind));
    for (const entry of due)
      if (!rhythms.includes(entry)) await this.#check(entry, now, () => this.#outcomeOf(entry.alert, now));
    if (rhythms.length > 0) await this.#checkRhythms(rhythms, now);
    return due.length === maxDue;
  }

  async #checkRhythms(due: DueAlert[], now: Date): Promise<void> {
    const { sql, warehouse, publicUrl, stopping } = this.#options;
    const alerts = due.map(({ alert }) => alert);
    const outcomes = await checkRhythms(sql, alerts, { warehouse, publicUrl, now, signal: stopping });
    for (const entry of due) {
      const outcome = outcomes.get(entry.alert.id);
      if (outcome !== undefined) await this.#check(entry, now, async () => outcome);
    }
  }

  /** The rhythms that can be compared: analytics have every scan that the log had when they were found to be due. */
  async #readyRhythms(now: Date): Promise<string[]> {
    const { sql } = this.#options;
    const { position } = await tableInUse(sql).catch(() => ({ position: -1 }));
    if (this.#awaited === undefined) {
      const rhythms = await dueRhythms(sql, now);
      if (rhythms.length === 0) return [];
      this.#awaited = { rhythms, position: await headOfLog(sql, Math.max(0, position)) };
    }
    const { rhythms, position: awaited } = this.#awaited;
    if (position < awaited) return [];
    this.#awaited = undefined;
    return rhythms;
  }

  async #check({ alert, dueAt }: DueAlert, now: Date, check: () => Promise<AlertOutcome>): Promise<void> {
    const { sql, stopping, mail, onRecorded, onError } = this.#options;
    let next = nextCheckAt(alert.kind, now);
    try {
      const recorded = await recordOutcome(sql, alert, await check(), { now, mail });
      if (recorded.length > 0) onRecorded(recorded);
    } catch (error) {
      next = new Date(now.getTime() + retryMs);
      if (!stopping.aborted) onError(alert, error);
    }
    // Unless something has happened meanwhile that makes it due again.
    await sql`UPDATE alert_checks SET next_at = ${next} WHERE alert = ${alert.id} AND next_at = ${dueAt}`;
  }

  #outcomeOf(alert: Alert, now: Date): Promise<AlertOutcome> {
    const { sql } = this.#options;
    if (!alert.active) return Promise.resolve(pausedOutcome(alert, this.#options));
    switch (alert.kind) {
      case 'destination_down':
        return checkDestinations(sql, alert, this.#options, now);
      case 'domain_failing':
        return checkDomains(sql, alert, this.#options);
      default:
        return checkLimits(sql, alert, this.#options, now);
    }
  }
}

interface DueAlert {
  alert: Alert;
  dueAt: Date;
}

/**
 * Alerts that are due, and of rhythms only the given ones: first one of each account, then a second one of each. Alerts of
 * suspended accounts wait.
 */
async function dueAlerts(
  sql: Queryable,
  now: Date,
  { rhythms, limit }: { rhythms: string[]; limit: number },
): Promise<DueAlert[]> {
  const rows = await sql<(Alert & { due_at: Date })[]>`
    SELECT a.*, due.next_at AS due_at FROM (
      SELECT c.alert, c.next_at, row_number() OVER (PARTITION BY c.account ORDER BY c.next_at, c.alert) AS turn
      FROM alert_checks c WHERE c.next_at <= ${now}
    ) AS due JOIN alerts a ON a.id = due.alert JOIN accounts o ON o.id = a.account
    WHERE o.suspended_at IS NULL AND (a.id = ANY(${rhythms}) OR a.kind NOT IN ('silent', 'spike') OR NOT a.active)
    ORDER BY due.turn, due.next_at, a.id LIMIT ${limit}`;
  return rows.map(({ due_at, ...alert }) => ({ alert, dueAt: due_at }));
}

/** Bounds what one turn keeps; the rest is found by the next. */
const maxRhythms = 1_000;

async function dueRhythms(sql: Queryable, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT a.id FROM alert_checks c JOIN alerts a ON a.id = c.alert JOIN accounts o ON o.id = a.account
    WHERE c.next_at <= ${now} AND o.suspended_at IS NULL AND a.active AND a.kind IN ('silent', 'spike')
    ORDER BY c.next_at LIMIT ${maxRhythms}`;
  return rows.map(({ id }) => id);
}

/** Makes alerts due whose next check is not stored, as after a restore. */
export const scheduleMissing = (sql: Queryable, now: Date): Promise<unknown> => sql`
  INSERT INTO alert_checks (alert, account, next_at)
  SELECT id, account, ${now} FROM alerts ON CONFLICT DO NOTHING`;
