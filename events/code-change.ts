import type { CodeChanged, CodeEvent } from './code-events.ts';
import type { Code, CodeFields } from './code-fields.ts';
import { domainOf, shortCodeOf } from './link.ts';
import { areSameRules } from './targeting/rule-ids.ts';
import type { Utm } from './targeting/targeting-schema.ts';
import { utmFields } from './targeting/targeting-words.ts';

/** A change of a code whose rules have their ids. */
export interface ReadyChange extends Partial<CodeFields> {
  active?: boolean;
}

type ChangedType = CodeChanged['type'];
type DataOf<T extends ChangedType> = Extract<CodeChanged, { type: T }>['data'];

interface FromTo<V> {
  from: V;
  to: V;
}

/** Events that change fields: their data has the values before and after. */
export type FieldEventType = {
  [T in ChangedType]: DataOf<T> extends FromTo<unknown> ? T : never;
}[ChangedType];

/** What an event of one type means: when a change causes it, what it does, how it is undone and shown. */
interface Change<T extends ChangedType> {
  /** Its name in the history: the field, or `schedule` and `query` for several; null for the code as a whole. */
  shownAs: string | null;
  /** The fields that it changes, which a restore brings back. */
  fields: readonly (keyof CodeFields)[];
  /** The data of the event, if the code has to become `wanted`; undefined if it has that already. */
  decide(code: Code, wanted: CodeFields, active: boolean | undefined): DataOf<T> | undefined;
  apply(data: DataOf<T>, occurredAt: Date): Partial<Code>;
  /** The change that sets the values from before the event; missing if it cannot be undone. */
  undo?(data: DataOf<T>): ReadyChange;
  show(data: DataOf<T>): FromTo<unknown>;
}

/** How an event has the value of some fields. */
interface Value<F extends keyof CodeFields, V> {
  read(fields: Pick<CodeFields, F>): V;
  write(value: V): Pick<CodeFields, F>;
  isSame?(a: V, b: V): boolean;
}

const isSameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const several = <S extends string, F extends keyof CodeFields, V>(
  shownAs: S,
  fields: readonly F[],
  { read, write, isSame = isSameJson }: Value<F, V>,
) => ({
  shownAs,
  fields,
  decide(code: Code, wanted: CodeFields): FromTo<V> | undefined {
    const [from, to] = [read(code), read(wanted)];
    return from === to || isSame(from, to) ? undefined : { from, to };
  },
  apply: ({ to }: FromTo<V>): Partial<Code> => write(to),
  undo: ({ from }: FromTo<V>): ReadyChange => write(from),
  show: ({ from, to }: FromTo<V>): FromTo<unknown> => ({ from, to }),
});

const one = <F extends keyof CodeFields>(field: F, isSame?: (a: CodeFields[F], b: CodeFields[F]) => boolean) =>
  several<F, F, CodeFields[F]>(field, [field], {
    read: (fields) => fields[field],
    write: (value) => ({ [field]: value }) as Pick<CodeFields, F>,
    ...(isSame === undefined ? {} : { isSame }),
  });

const ofStatus = (from: 'active' | 'paused' | 'draft', to: 'active' | 'paused') => ({
  shownAs: 'status',
  fields: [],
  decide: (code: Code, _: CodeFields, active: boolean | undefined) =>
    code.status === from && active === (to === 'active') ? {} : undefined,
  apply: (): Partial<Code> => ({ status: to }),
  // A code that was published cannot become a draft again: it is paused.
  undo: (): ReadyChange => ({ active: to !== 'active' }),
  show: () => ({ from, to }),
});

/** What no change of fields causes, and no owner can undo. */
const notOfFields = { fields: [], decide: () => undefined };

const timeOf = (text: string | null) => (text === null ? null : new Date(text));

/** In a fixed order, which jsonb does not keep. */
const sortedUtm = (utm: Utm): Utm =>
  Object.fromEntries(utmFields.flatMap((field) => (utm[field] === undefined ? [] : [[field, utm[field]]])));

const destination = one('destination_url');
const limit = one('max_scans');

/**
 * Every event that changes a code. One change of several fields makes its events in this order. A new event, and a new field
 * of `CodeFields`, that are missing here do not compile.
 */
const changes = {
  code_renamed: one('name'),
  destination_changed: {
    ...destination,
    decide(code, wanted) {
      const change = destination.decide(code, wanted);
      return change && { ...change, revision: code.destination_revision + 1 };
    },
    apply: ({ to, revision }) => ({ destination_url: to, destination_revision: revision }),
  },
  code_paused: ofStatus('active', 'paused'),
  code_resumed: ofStatus('paused', 'active'),
  code_published: ofStatus('draft', 'active'),
  rules_changed: one('rules', (a, b) => areSameRules(a ?? [], b ?? [])),
  schedule_changed: several('schedule', ['starts_at', 'expires_at'], {
    read: ({ starts_at, expires_at }) => ({
      starts_at: starts_at?.toISOString() ?? null,
      expires_at: expires_at?.toISOString() ?? null,
    }),
    write: ({ starts_at, expires_at }) => ({ starts_at: timeOf(starts_at), expires_at: timeOf(expires_at) }),
  }),
  limit_changed: { ...limit, apply: (data) => ({ ...limit.apply(data), limit_reached_at: null }) },
  limit_reached: {
    ...notOfFields,
    shownAs: 'availability',
    apply: (_, occurredAt) => ({ limit_reached_at: occurredAt }),
    show: () => ({ from: 'live', to: 'limit_reached' }),
  },
  fallback_changed: one('fallback_url'),
  query_changed: several('query', ['forward_query', 'utm'], {
    read: ({ forward_query, utm }) => ({ forward_query: forward_query === true, utm: utm && sortedUtm(utm) }),
    write: ({ forward_query, utm }) => ({ forward_query: forward_query || null, utm }),
  }),
  tags_changed: {
    shownAs: 'tags' as const,
    fields: ['tags', 'tag_names'] as const,
    decide({ tags: from, tag_names }, wanted) {
      const { tags: to } = wanted;
      const names = { from: tag_names, to: wanted.tag_names };
      if (isSameJson(from, to) && isSameJson(names.from, names.to)) return undefined;
      return names.from === null && names.to === null ? { from, to } : { from, to, names };
    },
    apply: ({ to, names }) => ({ tags: to, tag_names: names?.to ?? null }),
    undo: ({ from, names }) => ({ tags: from, tag_names: names?.from ?? null }),
    show: ({ from, to, names }) => ({ from: names?.from ?? from, to: names?.to ?? to }),
  },
  note_changed: one('note'),
  password_changed: {
    ...notOfFields,
    shownAs: 'password',
    apply: () => ({ has_password: true }),
    show: () => ({ from: null, to: 'set' }),
  },
  password_removed: {
    ...notOfFields,
    shownAs: 'password',
    apply: () => ({ has_password: null }),
    show: () => ({ from: 'set', to: null }),
  },
  code_disabled: {
    ...notOfFields,
    shownAs: 'disabled',
    apply: ({ reason }, occurredAt) => ({ disabled_reason: reason, disabled_at: occurredAt }),
    show: ({ reason }) => ({ from: null, to: reason }),
  },
  code_enabled: {
    ...notOfFields,
    shownAs: 'disabled',
    apply: () => ({ disabled_reason: null, disabled_at: null }),
    show: () => ({ from: null, to: null }),
  },
  code_restored: {
    ...notOfFields,
    shownAs: 'version',
    apply: () => ({}),
    show: ({ version }) => ({ from: null, to: version }),
  },
  code_deleted: {
    ...notOfFields,
    shownAs: null,
    apply: () => ({ status: 'deleted' }),
    show: () => ({ from: null, to: null }),
  },
} satisfies { [T in ChangedType]: Change<T> };

type Changeable = (typeof changes)[ChangedType]['fields'][number];
/** A compile error here: no event changes the fields in `Exclude<…>`. */
true satisfies [Exclude<keyof CodeFields, Changeable>] extends [never] ? true : Exclude<keyof CodeFields, Changeable>;

const changeOf = <T extends ChangedType>(type: T) => changes[type] as unknown as Change<T>;
const changedTypes = Object.keys(changes) as ChangedType[];

/** The names of fields in the history. */
export type ShownField = (typeof changes)[FieldEventType]['shownAs'];

export const fieldEventTypes = changedTypes.filter((type) => changeOf(type).fields.length > 0) as FieldEventType[];

export const fieldNames = fieldEventTypes.flatMap((type) => changeOf(type).fields);

/** The fields of a code that a restore brings back. */
export const fieldsOf = (code: Code): CodeFields =>
  Object.fromEntries(fieldNames.map((field) => [field, code[field]])) as unknown as CodeFields;

/** The events of a change; none if it changes nothing. */
export function changeTo(code: Code, { active, ...change }: ReadyChange): CodeChanged[] {
  const wanted = { ...code, ...change };
  return changedTypes.flatMap((type) => {
    const data = changeOf(type).decide(code, wanted, active);
    return data === undefined ? [] : [{ type, data } as CodeChanged];
  });
}

/** The fields that an event changes. */
export const changeBy = ({ type, data, occurred_at }: CodeChanged & { occurred_at: Date }): Partial<Code> =>
  changeOf(type).apply(data, occurred_at);

/** What is undone of an event of a type, by its name in the history; undefined if it cannot be undone. */
export function undoneField(type: CodeEvent['type']): string | undefined {
  if (type === 'code_created') return 'status';
  if (type === 'code_erased') return undefined;
  const { shownAs, undo } = changeOf(type);
  return undo === undefined ? undefined : (shownAs ?? undefined);
}

/** The change that sets the values from before an event; undefined if it cannot be undone. */
export function undoOf(event: CodeEvent): ReadyChange | undefined {
  // A code that was created is not deleted, which could not be undone: it is paused, which stops the short link.
  if (event.type === 'code_created') return { active: false };
  return event.type === 'code_erased' ? undefined : changeOf(event.type).undo?.(event.data);
}

/** What an event changes about a code. `schedule` and `query` stand for several fields; null for create and delete. */
export interface CodeDifference {
  field: string | null;
  from: unknown;
  to: unknown;
}

/** What an event changed, in the words of the API. */
export function differenceOf(event: CodeEvent): CodeDifference {
  if (event.type === 'code_erased') return { field: null, from: null, to: null };
  if (event.type === 'code_created') {
    const { account: _, mode: __, short_code_given: ___, short_code: link, tag_names, tags, ...fields } = event.data;
    const domain = domainOf(link);
    const to = {
      ...fields,
      short_code: shortCodeOf(link),
      ...(domain === undefined ? {} : { domain }),
      ...(tags === undefined ? {} : { tags: tag_names ?? tags }),
    };
    return { field: null, from: null, to };
  }
  const { shownAs, show } = changeOf(event.type);
  const { from, to } = show(event.data);
  return { field: shownAs, from, to };
}
