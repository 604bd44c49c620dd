import type { Rule, Variant, When } from './targeting-schema.ts';

/** A variant and a rule as a client sends them: an id is optional, and names one of the code's current rules. */
export interface GivenVariant {
  id?: string;
  name?: string;
  weight: number;
  destination_url: string;
}

export type GivenRule = { id?: string; name?: string } & (
  | { when: When; destination_url: string }
  | { when?: When; split: GivenVariant[] }
);

/**
 * Gives every rule and variant an id. One keeps its id if it names it, or has the same content as before, or differs only
 * in names and weights. A rule or variant that leads to another URL always gets a new id, so that an id in the scans means
 * one URL forever.
 *
 * `newId` creates an id that the code has never had.
 */
export function assignIds(before: readonly Rule[], given: GivenRule[], newId: (prefix: 'r' | 'v') => string): Rule[] {
  const free = [...before];
  /** Each current rule is kept once. */
  const take = (isSame: (rule: Rule) => boolean): Rule | undefined => {
    const index = free.findIndex(isSame);
    return index === -1 ? undefined : free.splice(index, 1)[0];
  };
  const kept = new Map<GivenRule, Rule>();
  const matches = [
    (rule: GivenRule) => (old: Rule) => old.id === rule.id && leadsAlike(rule, old),
    (rule: GivenRule) => (old: Rule) => contentOf(rule) === contentOf(old),
    (rule: GivenRule) => (old: Rule) => contentOf(rule, true) === contentOf(old, true),
  ];
  // All rules by their ids before any by its content, so that content cannot take what an id names.
  for (const isSame of matches)
    for (const rule of given) {
      const old = kept.has(rule) ? undefined : take(isSame(rule));
      if (old !== undefined) kept.set(rule, old);
    }
  return given.map((rule): Rule => {
    const old = kept.get(rule);
    const id = old?.id ?? newId('r');
    if (!('split' in rule)) return withId(id, rule);
    const oldVariants = old !== undefined && 'split' in old ? old.split : [];
    return withId(id, { ...rule, split: assignVariantIds(oldVariants, rule.split, newId) });
  });
}

/** The id comes first where JSON shows a rule or variant. */
function withId<Given extends { id?: string | undefined }>(id: string, { id: _, ...rest }: Given) {
  return { id, ...rest };
}

function assignVariantIds(
  before: readonly Variant[],
  given: GivenVariant[],
  newId: (prefix: 'r' | 'v') => string,
): Variant[] {
  const free = [...before];
  const take = (isSame: (variant: Variant) => boolean): Variant | undefined => {
    const index = free.findIndex(isSame);
    return index === -1 ? undefined : free.splice(index, 1)[0];
  };
  const named = given.map((variant) =>
    take((old) => old.id === variant.id && old.destination_url === variant.destination_url),
  );
  return given.map((variant, i) => {
    const old = named[i] ?? take((other) => other.destination_url === variant.destination_url);
    const id = old?.id ?? newId('v');
    return withId(id, variant);
  });
}

/** Whether a rule may keep the id of `old`: both are splits, whose variants have ids of their own, or lead to one URL. */
const leadsAlike = (rule: GivenRule, old: Rule) =>
  'split' in rule ? 'split' in old : !('split' in old) && rule.destination_url === old.destination_url;

/** A text that is equal for rules of equal content, ids left out; without the weights and names of variants if `loosely`. */
function contentOf(rule: GivenRule | Rule, loosely = false): string {
  const { name, when = {} } = rule;
  const target =
    'split' in rule
      ? rule.split.map((variant) =>
          loosely ? variant.destination_url : [variant.name, variant.weight, variant.destination_url],
        )
      : rule.destination_url;
  return JSON.stringify(['split' in rule, loosely ? null : name, sorted(when), target]);
}

/** The entries of conditions in a fixed order, which jsonb does not keep. */
const sorted = ({ hours, ...when }: When) => [
  hours?.from,
  hours?.to,
  ...Object.entries(when).toSorted(([a], [b]) => (a < b ? -1 : 1)),
];

/** Whether two lists have the same rules, with the same ids, in the same order. */
export const areSameRules = (a: readonly Rule[], b: readonly Rule[]): boolean =>
  a.length === b.length && a.every((rule, i) => rule.id === b[i]?.id && contentOf(rule) === contentOf(b[i]));

/** Every URL that rules lead to, with its place. */
export const urlsOfRules = (rules: readonly (GivenRule | Rule)[]): { field: string; url: string }[] =>
  rules.flatMap((rule, i) =>
    'split' in rule
      ? rule.split.map(({ destination_url: url }, j) => ({ field: `rules[${i}].split[${j}].destination_url`, url }))
      : [{ field: `rules[${i}].destination_url`, url: rule.destination_url }],
  );

/** The same rules with other URLs. Their ids stay, for `assignIds` to keep where the URL is the same. */
export const withUrls = (rules: readonly GivenRule[], urlFor: (url: string) => string): GivenRule[] =>
  rules.map((rule) =>
    'split' in rule
      ? {
          ...rule,
          split: rule.split.map((variant) => ({ ...variant, destination_url: urlFor(variant.destination_url) })),
        }
      : { ...rule, destination_url: urlFor(rule.destination_url) },
  );
