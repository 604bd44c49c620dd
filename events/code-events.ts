import { type TSchema, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { modes } from './plans.ts';
import type { Pending, Recorded } from './recorded.ts';
import { StyleSchema } from './style.ts';
import { RulesSchema, TagsSchema, UtmSchema } from './targeting/targeting-schema.ts';

const text = Type.String();
const nothing = Type.Object({}, { additionalProperties: false });
/** Whether the owner chose the short code; null on a custom domain, and if an earlier version created the code. */
const given = Type.Union([Type.Boolean(), Type.Null()]);
const changed = <S extends TSchema>(value: S) =>
  Type.Object({ from: value, to: value }, { additionalProperties: false });
const fromTo = changed(text);
const orNull = <S extends TSchema>(value: S) => Type.Union([value, Type.Null()]);
const schedule = Type.Object({ starts_at: orNull(text), expires_at: orNull(text) }, { additionalProperties: false });
const query = Type.Object({ forward_query: Type.Boolean(), utm: orNull(UtmSchema) }, { additionalProperties: false });
const maxScans = Type.Integer({ minimum: 1 });

export const codeEvents = {
  code_created: defineEvent(
    9,
    Type.Object(
      {
        account: text,
        mode: oneOf(modes),
        name: text,
        destination_url: text,
        /** A link: see link.ts. */
        short_code: text,
        short_code_given: given,
        status: oneOf(['active', 'draft']),
        style: StyleSchema,
        rules: Type.Optional(RulesSchema),
        starts_at: Type.Optional(text),
        expires_at: Type.Optional(text),
        max_scans: Type.Optional(maxScans),
        fallback_url: Type.Optional(text),
        forward_query: Type.Optional(Type.Literal(true)),
        utm: Type.Optional(UtmSchema),
        tags: Type.Optional(TagsSchema),
        /** The spelling of the tags, if one of them is not in lower case. */
        tag_names: Type.Optional(TagsSchema),
        note: Type.Optional(text),
        /** The password itself is not in the log, and neither is its hash. */
        has_password: Type.Optional(Type.Literal(true)),
        /** When the link was created at the service that it was imported from. */
        imported_at: Type.Optional(text),
        /** How often it was opened there. Never part of the scans of the code. */
        imported_scans: Type.Optional(Type.Integer({ minimum: 0 })),
      },
      { additionalProperties: false },
    ),
    {
      // Schema 1 predates drafts: every new code was active.
      1: (old) => ({ ...old, status: 'active' }),
      2: (old) => ({ ...old, short_code_given: null }),
      // Schema 3 predates everything after `style`, which is optional.
      3: (old) => old,
      // Schema 4 predates logos, frames, gradients, quiet zone and error correction in `style`, which are optional.
      4: (old) => old,
      // Schema 5 predates `note`, which is optional.
      5: (old) => old,
      // Schema 6 predates `tag_names`, which is optional.
      6: (old) => old,
      // Schema 7 predates custom domains in `short_code`, and `has_password`, which is optional.
      7: (old) => old,
      // Schema 8 predates `imported_at` and `imported_scans`, which are optional.
      8: (old) => old,
    },
  ),
  code_renamed: defineEvent(1, fromTo),
  destination_changed: defineEvent(
    1,
    Type.Object({ from: text, to: text, revision: Type.Integer({ minimum: 2 }) }, { additionalProperties: false }),
  ),
  rules_changed: defineEvent(1, changed(orNull(RulesSchema))),
  schedule_changed: defineEvent(1, changed(schedule)),
  limit_changed: defineEvent(1, changed(orNull(maxScans))),
  /** `max_scans` redirects have been counted: from now on scans lead to the fallback, or nowhere. */
  limit_reached: defineEvent(1, Type.Object({ max_scans: maxScans }, { additionalProperties: false })),
  fallback_changed: defineEvent(1, changed(orNull(text))),
  query_changed: defineEvent(1, changed(query)),
  tags_changed: defineEvent(
    2,
    Type.Object(
      {
        from: orNull(TagsSchema),
        to: orNull(TagsSchema),
        /** Their spelling, null for tags in lower case; absent if both are. */
        names: Type.Optional(changed(orNull(TagsSchema))),
      },
      { additionalProperties: false },
    ),
    // Schema 1 predates `names`, which is optional.
    { 1: (old) => old },
  ),
  note_changed: defineEvent(1, changed(orNull(text))),
  /** The code has a password from now on, or another one. */
  password_changed: defineEvent(1, nothing),
  password_removed: defineEvent(1, nothing),
  code_paused: defineEvent(1, nothing),
  code_resumed: defineEvent(1, nothing),
  /** A draft went live. */
  code_published: defineEvent(1, nothing),
  /** Taken down by the operator: the short link answers 410 until the operator restores it. */
  code_disabled: defineEvent(1, Type.Object({ reason: text }, { additionalProperties: false })),
  code_enabled: defineEvent(1, nothing),
  /** The owner brought back what the code was at an earlier version; the changes themselves follow as events of their own. */
  code_restored: defineEvent(
    1,
    Type.Object({ version: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
  ),
  code_deleted: defineEvent(1, nothing),
  /** The account was deleted and the data of earlier events erased; this event keeps the short code reserved. */
  code_erased: defineEvent(
    3,
    Type.Object(
      { account: text, mode: oneOf(modes), short_code: text, short_code_given: given },
      { additionalProperties: false },
    ),
    // Schema 2 predates custom domains in `short_code`.
    { 1: (old) => ({ ...old, short_code_given: null }), 2: (old) => old },
  ),
};

export type CodeEvent = EventOf<typeof codeEvents>;
export type CodeCreated = Extract<CodeEvent, { type: 'code_created' }>;
export type CodeErased = Extract<CodeEvent, { type: 'code_erased' }>;
/** An event of a code that already exists. */
export type CodeChanged = Exclude<CodeEvent, CodeCreated | CodeErased>;
/** An event that updates current state. Creation and erasure need their position, which other changes do not. */
export type AppliedCodeEvent = Recorded<CodeEvent> | Pending<CodeChanged>;
