import type { AppliedCodeEvent, CodeChanged, CodeCreated, CodeErased } from './code-events.ts';
import type { Mode } from './plans.ts';
import type { TargetingChange } from './read-targeting.ts';
import type { Pending, Recorded } from './recorded.ts';
import { areSameRules, assignIds } from './rule-ids.ts';
import type { Style } from './style.ts';
import { noTargeting, type TargetingFields } from './targeting.ts';
import type { Rule, Utm } from './targeting-schema.ts';
import { utmFields } from './targeting-words.ts';

export interface Code extends TargetingFields {
  id: string;
  account: string;
  mode: Mode;
  name: string;
  destination_url: string;
  /** The number of the destination, from 1. A scan stores it, so that analytics can separate destinations. */
  destination_revision: number;
  short_code: string;
  /** Null if it is not recorded: see `isGiven`. */
  short_code_given: boolean | null;
  status: 'active' | 'paused' | 'draft' | 'deleted';
  style: Style;
  created_at: Date;
  updated_at: Date;
  /** The version of the code's stream. */
  version: number;
  /** The position of the event that created it; lists are sorted by it. */
  position: number;
  /** Reason and time of the takedown by the operator; null if there is none. */
  disabled_reason: string | null;
  disabled_at: Date | null;
  /** In lower case, each once; null if there are none. */
  tags: string[] | null;
}

export interface NewCode {
  account: string;
  mode: Mode;
  name: string;
  destination_url: string;
  short_code: string;
  short_code_given: boolean;
  status: 'active' | 'draft';
  style: Style;
  targeting?: TargetingChange;
}

export interface CodeChange extends TargetingChange {
  name?: string;
  destination_url?: string;
  active?: boolean;
}

/** A change whose rules have their ids. */
export interface ReadyChange extends Omit<CodeChange, 'rules'> {
  rules?: Rule[] | null;
}

/** Creates an id of a rule or variant that no code has had. Passed in, because randomness is not pure. */
export type NewRuleId = (prefix: 'r' | 'v') => string;

export function createCode({ targeting = {}, ...code }: NewCode, newId: NewRuleId): CodeCreated {
  const { rules, starts_at, expires_at, max_scans, fallback_url, forward_query, utm, tags } = targeting;
  return {
    type: 'code_created',
    data: {
      ...code,
      ...(rules ? { rules: assignIds([], rules, newId) } : {}),
      ...(starts_at ? { starts_at: starts_at.toISOString() } : {}),
      ...(expires_at ? { expires_at: expires_at.toISOString() } : {}),
      ...(max_scans ? { max_scans } : {}),
      ...(fallback_url ? { fallback_url } : {}),
      ...(forward_query ? { forward_query } : {}),
      ...(utm ? { utm } : {}),
      ...(tags ? { tags } : {}),
    },
  };
}

/** The events of a change; none if it changes nothing. */
export function changeCode(code: Code, { rules, ...change }: CodeChange, newId: NewRuleId): CodeChanged[] {
  if (rules === undefined) return changeTo(code, change);
  return changeTo(code, { ...change, rules: rules && assignIds(code.rules ?? [], rules, newId) });
}

/** Like `changeCode`, with rules that keep the ids they have. */
export function changeTo(code: Code, change: ReadyChange): CodeChanged[] {
  const events: CodeChanged[] = [];
  if (change.name !== undefined && change.name !== code.name)
    events.push({ type: 'code_renamed', data: { from: code.name, to: change.name } });
  if (change.destination_url !== undefined && change.destination_url !== code.destination_url)
    events.push({
      type: 'destination_changed',
      data: { from: code.destination_url, to: change.destination_url, revision: code.destination_revision + 1 },
    });
  if (change.active === false && code.status === 'active') events.push({ type: 'code_paused', data: {} });
  if (change.active === true && code.status === 'paused') events.push({ type: 'code_resumed', data: {} });
  if (change.active === true && code.status === 'draft') events.push({ type: 'code_published', data: {} });
  return [...events, ...changeTargeting(code, change)];
}

function changeTargeting(code: Code, change: ReadyChange): CodeChanged[] {
  const events: CodeChanged[] = [];
  const { rules, max_scans = code.max_scans, fallback_url = code.fallback_url, tags = code.tags } = change;
  if (rules !== undefined && !areSameRules(code.rules ?? [], rules ?? []))
    events.push({ type: 'rules_changed', data: { from: code.rules, to: rules } });
  const [scheduleBefore, scheduleAfter] = [scheduleOf(code), scheduleOf({ ...code, ...change })];
  if (JSON.stringify(scheduleBefore) !== JSON.stringify(scheduleAfter))
    events.push({ type: 'schedule_changed', data: { from: scheduleBefore, to: scheduleAfter } });
  if (max_scans !== code.max_scans)
    events.push({ type: 'limit_changed', data: { from: code.max_scans, to: max_scans } });
  if (fallback_url !== code.fallback_url)
    events.push({ type: 'fallback_changed', data: { from: code.fallback_url, to: fallback_url } });
  const [queryBefore, queryAfter] = [queryOf(code), queryOf({ ...code, ...change })];
  if (JSON.stringify(queryBefore) !== JSON.stringify(queryAfter))
    events.push({ type: 'query_changed', data: { from: queryBefore, to: queryAfter } });
  if (JSON.stringify(tags) !== JSON.stringify(code.tags))
    events.push({ type: 'tags_changed', data: { from: code.tags, to: tags } });
  return events;
}

const scheduleOf = ({ starts_at, expires_at }: Pick<Code, 'starts_at' | 'expires_at'>) => ({
  starts_at: starts_at?.toISOString() ?? null,
  expires_at: expires_at?.toISOString() ?? null,
});

const queryOf = ({ forward_query, utm }: Pick<Code, 'forward_query' | 'utm'>) => ({
  forward_query: forward_query === true,
  utm: utm === null ? null : sortedUtm(utm),
});

/** In a fixed order, which jsonb does not keep. */
const sortedUtm = (utm: Utm): Utm =>
  Object.fromEntries(utmFields.flatMap((field) => (utm[field] === undefined ? [] : [[field, utm[field]]])));

/** `used` is the number of redirects that count against the limit. */
export const reachLimit = ({ max_scans, limit_reached_at }: Code, used: number): CodeChanged[] =>
  max_scans === null || limit_reached_at !== null || used < max_scans
    ? []
    : [{ type: 'limit_reached', data: { max_scans } }];

export const deleteCode = (code: Code): CodeChanged[] =>
  code.status === 'deleted' ? [] : [{ type: 'code_deleted', data: {} }];

export const disableCode = (code: Code, reason: string): CodeChanged[] =>
  code.disabled_reason === reason ? [] : [{ type: 'code_disabled', data: { reason } }];

export const enableCode = (code: Code): CodeChanged[] =>
  code.disabled_at === null ? [] : [{ type: 'code_enabled', data: {} }];

export const eraseCode = ({ account, mode, short_code, short_code_given }: Code): CodeErased => ({
  type: 'code_erased',
  data: { account, mode, short_code, short_code_given },
});

/** A code after the deletion of its account; does not depend on its earlier state. */
const erasedCode = ({ stream, data, occurred_at, version, position }: Recorded<CodeErased>): Code => ({
  ...data,
  id: stream,
  name: '',
  destination_url: '',
  destination_revision: 1,
  status: 'deleted',
  style: {},
  created_at: occurred_at,
  updated_at: occurred_at,
  version,
  position,
  disabled_reason: null,
  disabled_at: null,
  ...noTargeting,
  tags: null,
});

/** Returns the code after `event`. */
export function evolveCode(code: Code | undefined, event: AppliedCodeEvent): Code {
  if (event.type === 'code_erased') return erasedCode(event);
  if (event.type === 'code_created') {
    const { starts_at, expires_at, ...data } = event.data;
    return {
      ...noTargeting,
      tags: null,
      ...data,
      starts_at: timeOf(starts_at),
      expires_at: timeOf(expires_at),
      id: event.stream,
      destination_revision: 1,
      created_at: event.occurred_at,
      updated_at: event.occurred_at,
      version: event.version,
      position: event.position,
      disabled_reason: null,
      disabled_at: null,
    };
  }
  if (code === undefined) throw new Error(`${event.stream} begins with ${event.type}, not with code_created`);
  return { ...code, ...changeBy(event), updated_at: event.occurred_at, version: event.version };
}

const timeOf = (text: string | null = null) => (text === null ? null : new Date(text));

/** The fields that an event changes. */
export function changeBy(event: Pending<CodeChanged>): Partial<Code> {
  switch (event.type) {
    case 'code_renamed':
      return { name: event.data.to };
    case 'destination_changed':
      return { destination_url: event.data.to, destination_revision: event.data.revision };
    case 'rules_changed':
      return { rules: event.data.to };
    case 'schedule_changed':
      return { starts_at: timeOf(event.data.to.starts_at), expires_at: timeOf(event.data.to.expires_at) };
    case 'limit_changed':
      return { max_scans: event.data.to, limit_reached_at: null };
    case 'limit_reached':
      return { limit_reached_at: event.occurred_at };
    case 'fallback_changed':
      return { fallback_url: event.data.to };
    case 'query_changed':
      return { forward_query: event.data.to.forward_query || null, utm: event.data.to.utm };
    case 'tags_changed':
      return { tags: event.data.to };
    case 'code_paused':
      return { status: 'paused' };
    case 'code_resumed':
    case 'code_published':
      return { status: 'active' };
    case 'code_disabled':
      return { disabled_reason: event.data.reason, disabled_at: event.occurred_at };
    case 'code_enabled':
      return { disabled_reason: null, disabled_at: null };
    case 'code_restored':
      return {};
    case 'code_deleted':
      return { status: 'deleted' };
  }
}
