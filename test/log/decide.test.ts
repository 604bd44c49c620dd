import { describe, expect, test } from 'vitest';
import type { AccountEvent } from '../../events/account.ts';
import type { Pending } from '../../events/recorded.ts';
import { newId } from '../../src/lib/ids.ts';
import { append } from '../../src/log/append.ts';
import { decideAndAppend } from '../../src/log/decide.ts';
import { readStream } from '../../src/log/read.ts';
import { VersionTaken } from '../../src/log/version-taken.ts';
import { useDatabase } from '../support/database.ts';
import { opened } from '../support/events.ts';

const database = useDatabase();
const by = { actor: 'operator', now: new Date() };
const upgrade: AccountEvent = { type: 'plan_changed', data: { from: 'free', to: 'pro' } };

const versionOf = async (stream: string) => ({ version: (await readStream(database.sql, stream)).length });
const begin = async () => {
  const event = opened(newId('acct', Date.now()));
  await database.sql.begin((tx) => append(tx, [event], by));
  return event.stream;
};
/** Appends an event of another writer. */
const interfere = async (stream: string) => {
  const { version } = await versionOf(stream);
  await database.sql.begin((tx) => append(tx, [{ stream, version: version + 1, event: upgrade }], by));
};

describe('load, decide, append', () => {
  test('a decision without events appends nothing and returns the state', async () => {
    const stream = await begin();
    const steps = { load: () => versionOf(stream), decide: () => [], project: async () => {}, by };
    expect(await decideAndAppend(database.sql, stream, steps)).toEqual({
      state: { version: 1 },
      recorded: [],
      projected: undefined,
    });
    expect(await versionOf(stream)).toEqual({ version: 1 });
  });

  test('after a lost race it decides once more, on the new state', async () => {
    const stream = await begin();
    const seen: number[] = [];
    const { state } = await decideAndAppend(database.sql, stream, {
      load: async () => {
        const state = await versionOf(stream);
        if (seen.push(state.version) === 1) await interfere(stream);
        return state;
      },
      decide: () => [upgrade],
      project: async () => {},
      by,
    });
    expect(seen).toEqual([1, 2]);
    expect(state).toEqual({ version: 2 });
    expect(await versionOf(stream)).toEqual({ version: 3 });
  });

  test('after a second lost race it throws VersionTaken and appends nothing', async () => {
    const stream = await begin();
    let loads = 0;
    const lost = decideAndAppend(database.sql, stream, {
      load: async () => {
        loads++;
        const state = await versionOf(stream);
        await interfere(stream);
        return state;
      },
      decide: () => [upgrade],
      project: async () => {},
      by,
    });
    await expect(lost).rejects.toBeInstanceOf(VersionTaken);
    expect(loads).toBe(2);
    expect(await versionOf(stream), 'only the two events of the other writer were added').toEqual({ version: 3 });
  });

  test('current state is written before the append lock is taken', async () => {
    const stream = await begin();
    const projected = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    // Another append holds the lock until this command has written its state.
    const holder = database.sql.begin(async (tx) => {
      await append(tx, [opened()], by);
      locked.resolve();
      await projected.promise;
    });
    await locked.promise;
    const { recorded } = await decideAndAppend<{ version: number }, AccountEvent>(database.sql, stream, {
      load: () => versionOf(stream),
      decide: () => [upgrade],
      project: async (tx) => {
        await tx`SELECT 1`;
        projected.resolve();
      },
      by,
    });
    expect(recorded).toHaveLength(1);
    await holder;
  });

  test('when writing current state fails, the event is not stored either', async () => {
    const stream = await begin();
    const projected: Pending<AccountEvent>[] = [];
    const failing = decideAndAppend(database.sql, stream, {
      load: () => versionOf(stream),
      decide: () => [upgrade],
      project: async (_tx, _state, events) => {
        projected.push(...events);
        throw new Error('disk full');
      },
      by,
    });
    await expect(failing).rejects.toThrow('disk full');
    expect(projected).toHaveLength(1);
    expect(await versionOf(stream)).toEqual({ version: 1 });
  });
});
