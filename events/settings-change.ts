/** Changes of the settings of shared pages, reports and alerts. */

/**
 * The settings that differ, before and after; undefined if none does. `isNew` names a field that counts as changed although
 * its value is the same, because the log does not have what changed.
 */
export function changedSettings<S extends object>(
  before: S,
  to: Partial<S>,
  isNew: (field: keyof S) => boolean = () => false,
): { from: Partial<S>; to: Partial<S> } | undefined {
  const changed = (Object.keys(to) as (keyof S)[]).filter(
    (field) => isNew(field) || JSON.stringify(before[field]) !== JSON.stringify(to[field]),
  );
  if (changed.length === 0) return undefined;
  const pick = (from: Partial<S>) =>
    Object.fromEntries(changed.map((field) => [field, from[field]])) as unknown as Partial<S>;
  return { from: pick(before), to: pick(to) };
}

interface ChosenCodes {
  codes?: string[] | null;
}

/** Settings with the name that the API has for codes. */
export function withQrIds<T extends ChosenCodes>({ codes, ...others }: T) {
  return codes === undefined ? others : { ...others, qr_ids: codes };
}
