import { readFields } from '../../../../events/read-fields.ts';
import type { Rule, Utm, When } from '../../../../events/targeting/targeting-schema.ts';
import { maxVariants, utmFields } from '../../../../events/targeting/targeting-words.ts';
import { completeUrl } from '../codes/destination.ts';
import type { FieldErrors } from '../parts/field-errors.ts';
import type { QrCode } from '../types.ts';

/** What the form "Where it leads" edits, and how it becomes the body of a PATCH. */

export interface VariantForm {
  /** Identifies it on screen while it is edited and moved. */
  key: number;
  id: string | undefined;
  name: string;
  weight: string;
  destination: string;
}

/** Conditions that are shown; each may still be empty. */
export interface WhenForm {
  devices?: string[];
  browsers?: string[];
  countries?: string[];
  languages?: string[];
  days?: string[];
  hours?: { from: string; to: string };
  /** ISO timestamps, or empty. */
  dates?: { from: string; until: string };
}
export type Condition = keyof WhenForm;

export interface RuleForm {
  key: number;
  id: string | undefined;
  name: string;
  when: WhenForm;
  timezone: string;
  destination: string;
  /** Empty unless the rule is a split. */
  split: VariantForm[];
}

export interface LeadsForm {
  destination: string;
  rules: RuleForm[];
  /** ISO timestamps, or empty. */
  starts_at: string;
  expires_at: string;
  max_scans: string;
  fallback: string;
  forward_query: boolean;
  utm: Record<(typeof utmFields)[number], string>;
}

const withScheme = (text: string) => completeUrl(text).url;

let lastKey = 0;
const newKey = () => ++lastKey;

export const newVariant = (destination = '', weight = '50'): VariantForm => ({
  key: newKey(),
  id: undefined,
  name: '',
  weight,
  destination,
});

export const newRule = (timezone: string): RuleForm => ({
  key: newKey(),
  id: undefined,
  name: '',
  when: {},
  timezone,
  destination: '',
  split: [],
});

/** A new variant gets the average weight of the others. */
export function withVariant(split: VariantForm[]): VariantForm[] {
  if (split.length >= maxVariants) return split;
  const total = split.reduce((sum, { weight }) => sum + (Number(weight) || 0), 0);
  return [...split, newVariant('', String(Math.max(1, Math.round(total / Math.max(1, split.length)))))];
}

export function formOf(code: QrCode, ownZone: string): LeadsForm {
  const { rules = [], starts_at = '', expires_at = '', max_scans, fallback_url = '', forward_query = false } = code;
  return {
    destination: code.destination_url,
    rules: rules.map((rule) => ruleFormOf(rule, ownZone)),
    starts_at,
    expires_at,
    fallback: fallback_url,
    forward_query,
    max_scans: max_scans === undefined ? '' : String(max_scans),
    utm: Object.fromEntries(utmFields.map((field) => [field, code.utm?.[field] ?? ''])) as LeadsForm['utm'],
  };
}

function ruleFormOf(rule: Rule, ownZone: string): RuleForm {
  const { from, until, timezone, ...when } = rule.when ?? {};
  const hasClock = when.days !== undefined || when.hours !== undefined;
  return {
    key: newKey(),
    id: rule.id,
    name: rule.name ?? '',
    when: {
      ...when,
      ...(from === undefined && until === undefined ? {} : { dates: { from: from ?? '', until: until ?? '' } }),
    },
    timezone: hasClock ? (timezone ?? 'UTC') : ownZone,
    destination: 'split' in rule ? '' : rule.destination_url,
    split:
      'split' in rule
        ? rule.split.map(({ id, name = '', weight, destination_url }) => ({
            key: newKey(),
            id,
            name,
            weight: String(weight),
            destination: destination_url,
          }))
        : [],
  };
}

const textOrNothing = <K extends string>(field: K, text: string) =>
  (text.trim() === '' ? {} : { [field]: text.trim() }) as { [name in K]?: string };

/** The conditions as the API takes them; empty lists stay, so that the API's validation names them. */
export function whenOf({ when, timezone }: Pick<RuleForm, 'when' | 'timezone'>): When {
  const { dates, ...given } = when;
  const hasClock = given.days !== undefined || given.hours !== undefined;
  return {
    ...given,
    ...textOrNothing('from', dates?.from ?? ''),
    ...textOrNothing('until', dates?.until ?? ''),
    ...(hasClock ? { timezone } : {}),
  } as When;
}

const hasConditions = (when: When) => Object.keys(when).length > 0;

/** The rule as it would be stored, as far as it is filled in: for its sentence. */
export function ruleOf(form: RuleForm): Rule {
  const { id = '', name, destination, split } = form;
  const when = withoutEmpty(whenOf(form));
  const common = { id, ...textOrNothing('name', name) };
  return split.length === 0
    ? { ...common, when, destination_url: withScheme(destination) }
    : { ...common, when, split: split.map((variant) => ({ ...variantOf(variant), id: variant.id ?? '' })) };
}

const withoutEmpty = (when: When): When =>
  Object.fromEntries(Object.entries(when).filter(([, value]) => !Array.isArray(value) || value.length > 0)) as When;

const idOrNothing = (id: string | undefined) => (id === undefined ? {} : { id });

const variantOf = ({ id, name, weight, destination }: VariantForm) => ({
  ...idOrNothing(id),
  ...textOrNothing('name', name),
  weight: Number(weight),
  destination_url: withScheme(destination),
});

function ruleRequest(form: RuleForm) {
  const { id, name, destination, split } = form;
  const when = whenOf(form);
  const common = { ...idOrNothing(id), ...textOrNothing('name', name) };
  return split.length === 0
    ? { ...common, when, destination_url: withScheme(destination) }
    : { ...common, ...(hasConditions(when) ? { when } : {}), split: split.map(variantOf) };
}

/** Every field of the form as a PATCH takes it. */
function requestOf({ destination, rules, starts_at, expires_at, max_scans, fallback, forward_query, utm }: LeadsForm) {
  const filledUtm: Utm = Object.assign({}, ...utmFields.map((field) => textOrNothing(field, utm[field])));
  return {
    destination_url: withScheme(destination),
    rules: rules.length === 0 ? null : rules.map(ruleRequest),
    starts_at: starts_at === '' ? null : starts_at,
    expires_at: expires_at === '' ? null : expires_at,
    max_scans: max_scans.trim() === '' ? null : Number(max_scans),
    fallback_url: fallback.trim() === '' ? null : withScheme(fallback),
    forward_query,
    utm: Object.keys(filledUtm).length === 0 ? null : filledUtm,
  };
}
export type LeadsRequest = ReturnType<typeof requestOf>;

/** The fields that differ from `base`; empty if none does. */
export function changesOf(form: LeadsForm, base: LeadsForm): Partial<LeadsRequest> {
  const [after, before] = [requestOf(form), requestOf(base)];
  const changed = Object.entries(after).filter(
    // NaN, which JSON does not have, is an invalid number.
    ([field, value]) =>
      Number.isNaN(value) || JSON.stringify(value) !== JSON.stringify(before[field as keyof LeadsRequest]),
  );
  return Object.fromEntries(changed);
}

/** The errors that the service would find, by their field, such as `rules[2].when.countries[0]`. */
export function problemsWith(
  { destination_url: _, ...changes }: Partial<LeadsRequest>,
  ownUrls: string[],
): FieldErrors {
  const { problems } = readFields(changes, ownUrls);
  return Object.fromEntries(problems.map(({ field, problem }) => [field, `${field} ${problem}.`]));
}
