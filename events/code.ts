import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';
import type { Pending, Recorded } from './recorded.ts';
import { type Style, StyleSchema } from './style.ts';

const text = Type.String();
const nothing = Type.Object({}, { additionalProperties: false });
/** Whether the owner chose the short code; null if an earlier version, which did not record it, created the code. */
const given = Type.Union([Type.Boolean(), Type.Null()]);
const fromTo = Type.Object({ from: text, to: text }, { additionalProperties: false });

export const codeEvents = {
  code_created: defineEvent(
    3,
    Type.Object(
      {
        account: text,
        mode: oneOf(modes),
        name: text,
        destination_url: text,
        short_code: text,
        short_code_given: given,
        status: oneOf(['active', 'draft']),
        style: StyleSchema,
      },
      { additionalProperties: false },
    ),
    {
      // Schema 1 predates drafts: every new code was active.
      1: (old) => ({ ...old, status: 'active' }),
      2: (old) => ({ ...old, short_code_given: null }),
    },
  ),
  code_renamed: defineEvent(1, fromTo),
  destination_changed: defineEvent(
    1,
    Type.Object({ from: text, to: text, revision: Type.Integer({ minimum: 2 }) }, { additionalProperties: false }),
  ),
  code_paused: defineEvent(1, nothing),
  code_resumed: defineEvent(1, nothing),
  /** A draft went live. */
  code_published: defineEvent(1, nothing),
  /** Taken down by the operator: the short link answers 410 until the operator restores it. */
  code_disabled: defineEvent(1, Type.Object({ reason: text }, { additionalProperties: false })),
  code_enabled: defineEvent(1, nothing),
  code_deleted: defineEvent(1, nothing),
  /** The account was deleted and the data of earlier events erased; this event keeps the short code reserved. */
  code_erased: defineEvent(
    2,
    Type.Object(
      { account: text, mode: oneOf(modes), short_code: text, short_code_given: given },
      { additionalProperties: false },
    ),
    { 1: (old) => ({ ...old, short_code_given: null }) },
  ),
};

export type CodeEvent = EventOf<typeof codeEvents>;
type CodeCreated = Extract<CodeEvent, { type: 'code_created' }>;
export type CodeErased = Extract<CodeEvent, { type: 'code_erased' }>;
/** An event of a code that already exists. */
export type CodeChanged = Exclude<CodeEvent, CodeCreated | CodeErased>;
/** An event that updates current state. Creation and erasure need their position, which other changes do not. */
export type AppliedCodeEvent = Recorded<CodeEvent> | Pending<CodeChanged>;

export interface Code {
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
}

export interface CodeChange {
  name?: string;
  destination_url?: string;
  active?: boolean;
}

export const createCode = (data: NewCode): CodeEvent => ({ type: 'code_created', data });

/** The events of a change; none if it changes nothing. */
export function changeCode(code: Code, change: CodeChange): CodeChanged[] {
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
  return events;
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
});

/** Returns the code after `event`. */
export function evolveCode(code: Code | undefined, event: AppliedCodeEvent): Code {
  if (event.type === 'code_erased') return erasedCode(event);
  if (event.type === 'code_created') {
    return {
      ...event.data,
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

/** The fields that an event changes. */
export function changeBy(event: Pending<CodeChanged>): Partial<Code> {
  switch (event.type) {
    case 'code_renamed':
      return { name: event.data.to };
    case 'destination_changed':
      return { destination_url: event.data.to, destination_revision: event.data.revision };
    case 'code_paused':
      return { status: 'paused' };
    case 'code_resumed':
    case 'code_published':
      return { status: 'active' };
    case 'code_disabled':
      return { disabled_reason: event.data.reason, disabled_at: event.occurred_at };
    case 'code_enabled':
      return { disabled_reason: null, disabled_at: null };
    case 'code_deleted':
      return { status: 'deleted' };
  }
}
