import { changeBy, changeTo } from './code-change.ts';
import type { AppliedCodeEvent, CodeChanged, CodeCreated, CodeErased } from './code-events.ts';
import { type Code, decodeFields, encodeFields, type OptionalChange } from './code-fields.ts';
import type { Link } from './link.ts';
import type { Mode } from './plans.ts';
import type { Recorded } from './recorded.ts';
import type { Style } from './style.ts';
import { tagsOf } from './tags.ts';
import { assignIds } from './targeting/rule-ids.ts';

export type { Code } from './code-fields.ts';

export interface NewCode {
  account: string;
  mode: Mode;
  name: string;
  destination_url: string;
  short_code: Link;
  short_code_given: boolean | null;
  status: 'active' | 'draft';
  style: Style;
  optional?: OptionalChange;
  has_password?: boolean;
  imported?: Imported;
}

/** What is known of a link from the service that it was imported from. */
export interface Imported {
  created_at?: Date | undefined;
  scans?: number | undefined;
}

export interface CodeChange extends OptionalChange {
  name?: string;
  destination_url?: string;
  active?: boolean;
}

/** Creates an id of a rule or variant that no code has had. Passed in, because randomness is not pure. */
export type NewRuleId = (prefix: 'r' | 'v') => string;

export function createCode(
  { optional = {}, has_password = false, imported = {}, ...code }: NewCode,
  newId: NewRuleId,
): CodeCreated {
  const rules = optional.rules ? assignIds([], optional.rules, newId) : null;
  const { tags, tag_names } = tagsOf(optional.tags ?? null);
  const names = tag_names === null ? {} : { tag_names };
  const password = has_password ? { has_password: true as const } : {};
  const fields = encodeFields({ ...optional, rules, tags });
  return { type: 'code_created', data: { ...code, ...fields, ...names, ...password, ...encodeImported(imported) } };
}

const encodeImported = ({ created_at, scans }: Imported) => ({
  ...(created_at === undefined ? {} : { imported_at: created_at.toISOString() }),
  ...(scans === undefined ? {} : { imported_scans: scans }),
});

/** The events of a change; none if it changes nothing. */
export function changeCode(code: Code, { rules, tags, ...change }: CodeChange, newId: NewRuleId): CodeChanged[] {
  return changeTo(code, {
    ...change,
    ...(tags === undefined ? {} : tagsOf(tags)),
    ...(rules === undefined ? {} : { rules: rules && assignIds(code.rules ?? [], rules, newId) }),
  });
}

/** `used` is the number of redirects that count against the limit. */
export const reachLimit = ({ max_scans, limit_reached_at }: Code, used: number): CodeChanged[] =>
  max_scans === null || limit_reached_at !== null || used < max_scans
    ? []
    : [{ type: 'limit_reached', data: { max_scans } }];

/** The events of setting or removing the password. */
export function changePassword({ has_password }: Code, change: 'set' | 'remove'): CodeChanged[] {
  if (change === 'set') return [{ type: 'password_changed', data: {} }];
  return has_password ? [{ type: 'password_removed', data: {} }] : [];
}

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
  limit_reached_at: null,
  has_password: null,
  tag_names: null,
  imported_at: null,
  imported_scans: null,
  ...decodeFields({}),
});

/** Returns the code after `event`. */
export function evolveCode(code: Code | undefined, event: AppliedCodeEvent): Code {
  if (event.type === 'code_erased') return erasedCode(event);
  if (event.type === 'code_created')
    return {
      ...event.data,
      ...decodeFields(event.data),
      tag_names: event.data.tag_names ?? null,
      imported_at: event.data.imported_at === undefined ? null : new Date(event.data.imported_at),
      imported_scans: event.data.imported_scans ?? null,
      id: event.stream,
      destination_revision: 1,
      limit_reached_at: null,
      has_password: event.data.has_password ?? null,
      created_at: event.occurred_at,
      updated_at: event.occurred_at,
      version: event.version,
      position: event.position,
      disabled_reason: null,
      disabled_at: null,
    };
  if (code === undefined) throw new Error(`${event.stream} begins with ${event.type}, not with code_created`);
  return { ...code, ...changeBy(event), updated_at: event.occurred_at, version: event.version };
}
