import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Like `map`; lets redirects run after each `perTurn` items. */
export async function mapInTurns<T, R>(items: readonly T[], perTurn: number, map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = [];
  for (const item of items) {
    if (mapped.length > 0 && mapped.length % perTurn === 0) await yieldToEventLoop();
    mapped.push(map(item));
  }
  return mapped;
}
