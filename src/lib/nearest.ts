/**
 * The known name that `name` is most likely a misspelling of; undefined if none is near. Ignores case, `_` and `-`, so that
 * `destinationUrl` is `destination_url`.
 *
 * @example
 * nearest('destinationUlr', ['name', 'destination_url']); // 'destination_url'
 * nearest('color', ['name', 'destination_url']); // undefined
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  let best: { name: string; edits: number } | undefined;
  for (const candidate of known) {
    const target = plain(candidate);
    const maxEdits = Math.max(1, Math.floor(target.length / 3));
    // Also bounds the work for a name of any length.
    if (Math.abs(wanted.length - target.length) > maxEdits) continue;
    const edits = editDistance(wanted, target);
    if (edits <= maxEdits && edits < (best?.edits ?? Number.POSITIVE_INFINITY)) best = { name: candidate, edits };
  }
  return best?.name;
}

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '');

/** The number of characters to insert, delete, replace, or swap with their neighbor (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
