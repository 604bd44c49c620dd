import type { CodeCreated } from './code-events.ts';
import type { Link } from './link.ts';
import type { Mode } from './plans.ts';
import type { Style } from './style.ts';
import { type CodeTags, spelledTags } from './tags.ts';
import type { GivenRule } from './targeting/rule-ids.ts';
import type { TargetingFields } from './targeting/targeting.ts';
import type { Rule, Utm } from './targeting/targeting-schema.ts';

/** The fields of a code that its owner can change; null if one is not set. */
export interface CodeFields extends Omit<TargetingFields, 'limit_reached_at'>, CodeTags {
  name: string;
  destination_url: string;
  /** For the owner only; lines end with `\n`. */
  note: string | null;
}

export interface Code extends CodeFields {
  id: string;
  account: string;
  mode: Mode;
  /** The number of the destination, from 1. A scan stores it, so that analytics can separate destinations. */
  destination_revision: number;
  /** The short code, on a custom domain with its name before it. */
  short_code: Link;
  /** Null if it is not recorded: see `isGiven`. */
  short_code_given: boolean | null;
  status: 'active' | 'paused' | 'draft' | 'deleted';
  style: Style;
  limit_reached_at: Date | null;
  /** Whether the short link asks for a password; null for no. */
  has_password: true | null;
  /** When the link was created at the service that it was imported from, and how often it was opened there; null if unknown. */
  imported_at: Date | null;
  imported_scans: number | null;
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

/** Without the spelling of tags, which comes with them. */
export type OptionalFields = Omit<CodeFields, 'name' | 'destination_url' | 'tag_names'>;
export type OptionalField = keyof OptionalFields;

/** A change of optional fields; null removes, and what is absent stays. Rules may lack their ids; tags are as written. */
export interface OptionalChange extends Partial<Omit<OptionalFields, 'rules'>> {
  rules?: GivenRule[] | null;
}

/** Optional fields that are set, as JSON: in `code_created`, in responses of the API, and in the payload of a copy. */
export type EncodedFields = Pick<CodeCreated['data'], OptionalField>;

interface Encoding<F extends OptionalField> {
  /** Returns undefined for a value that means the same as null. */
  encode(value: NonNullable<CodeFields[F]>): EncodedFields[F] | undefined;
  decode(encoded: NonNullable<EncodedFields[F]>): CodeFields[F];
}

const asIs = <V>() => ({ encode: (value: V) => value, decode: (value: V) => value });
const asTimestamp = { encode: (time: Date) => time.toISOString(), decode: (text: string) => new Date(text) };

/** A new optional field that is missing here does not compile. */
const encodings = {
  rules: asIs<Rule[]>(),
  starts_at: asTimestamp,
  expires_at: asTimestamp,
  max_scans: asIs<number>(),
  fallback_url: asIs<string>(),
  forward_query: { encode: (value: boolean) => value || undefined, decode: (value: true) => value },
  utm: asIs<Utm>(),
  tags: asIs<string[]>(),
  note: asIs<string>(),
} satisfies { [F in OptionalField]: Encoding<F> };

/** In the order in which answers show them. */
export const optionalFields = Object.keys(encodings) as OptionalField[];

const encodingOf = <F extends OptionalField>(field: F) => encodings[field] as unknown as Encoding<F>;

/** The fields that are set, as JSON. */
export function encodeFields(fields: Partial<OptionalFields>): EncodedFields {
  const set = optionalFields.flatMap((field) => {
    const value = fields[field] ?? undefined;
    const encoded = value === undefined ? undefined : encodingOf(field).encode(value);
    return encoded === undefined ? [] : [[field, encoded]];
  });
  return Object.fromEntries(set);
}

/** The fields of a code that are set, as JSON, with tags as their owner writes them. */
export const encodeFieldsOf = (code: OptionalFields & CodeTags): EncodedFields =>
  encodeFields({ ...code, tags: spelledTags(code) });

/** All optional fields; null where the JSON has none. */
export function decodeFields(encoded: EncodedFields): OptionalFields {
  const all = optionalFields.map((field) => {
    const value = encoded[field];
    return [field, value === undefined ? null : encodingOf(field).decode(value)];
  });
  return Object.fromEntries(all);
}
