import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createLogger } from '../../src/lib/logger.ts';
import { type Leadership, seekLeadership } from '../../src/stream/leader.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const lock = 4_711;
const database = useDatabase();
const leaders: string[] = [];
const seeking: Leadership[] = [];

afterEach(async () => {
  await Promise.all(seeking.splice(0).map((leadership) => leadership.stop()));
  leaders.length = 0;
});

function seek(name: string): Leadership {
  const leadership = seekLeadership({
    databaseUrl: database.url,
    lock,
    name,
    log: createLogger('silent', false),
    async lead(signal) {
      leaders.push(name);
      if (!signal.aborted) await once(signal, 'abort');
    },
  });
  seeking.push(leadership);
  return leadership;
}

/** The session that waits for the lock, and when it tried last. */
async function sessionOf(name: string): Promise<{ pid: number; tried: Date }> {
  const [session] = await database.sql<[{ pid: number; tried: Date }?]>`
    SELECT pid, query_start AS tried FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = ${`scanlog-${name}`} AND query_start IS NOT NULL`;
  if (session === undefined) throw new Error(`${name} has no session`);
  return session;
}

test('a process that waits to lead tries on one connection, and takes over', async () => {
  const first = seek('first');
  await eventually(() => expect(leaders).toEqual(['first']));
  seek('second');
  const waiting = await eventually(() => sessionOf('second'));
  const later = await eventually(async () => {
    const session = await sessionOf('second');
    expect(session.tried.getTime()).toBeGreaterThan(waiting.tried.getTime() + 1_000);
    return session;
  });
  expect(later.pid).toBe(waiting.pid);
  expect(leaders).toEqual(['first']);
  await first.stop();
  await eventually(() => expect(leaders).toEqual(['first', 'second']));
});

test('a process that waits to lead can stop', async () => {
  seek('first');
  await eventually(() => expect(leaders).toEqual(['first']));
  const second = seek('second');
  await eventually(() => sessionOf('second'));
  await second.stop();
  expect(leaders).toEqual(['first']);
  await eventually(async () => await expect(sessionOf('second')).rejects.toThrow('second has no session'));
});
