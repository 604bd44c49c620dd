import type { ISql } from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { moveCheckpoint, Superseded } from '../../projections/checkpoint.ts';
import type { Queryable } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const positionOf = async (projection: string) =>
  (await database.sql`SELECT position FROM checkpoints WHERE projection = ${projection}`)[0]?.['position'];

test('a checkpoint moves only from its stored position', async () => {
  await database.sql`INSERT INTO checkpoints VALUES ('moving', 5)`;
  await moveCheckpoint(database.sql, 'moving', { after: 5, to: 9 });
  await expect(moveCheckpoint(database.sql, 'moving', { after: 5, to: 12 })).rejects.toThrow(Superseded);
  expect(await positionOf('moving')).toBe(9);
});

test('only the transaction that moves a checkpoint does not wait for the disk', async () => {
  const one = connect(database.url, { max: 1 });
  onTestFinished(() => one.end());
  const commits = async (sql: Queryable) => (await sql<[{ synchronous_commit: string }]>`SHOW synchronous_commit`)[0];
  await one`SET synchronous_commit = on`;
  await one`INSERT INTO checkpoints VALUES ('soon', 1)`;
  await one.begin(async (tx) => {
    await moveCheckpoint(tx, 'soon', { after: 1, to: 2 });
    expect(await commits(tx)).toEqual({ synchronous_commit: 'off' });
  });
  expect(await commits(one)).toEqual({ synchronous_commit: 'on' });
});

test.each([
  ['an empty result', []],
  ['the row of another query', [{ projection: 'other', position: 9 }]],
  ['another position', [{ projection: 'moving', position: 8 }]],
])('%s does not count as a move', async (_, result) => {
  const fakeSql = (async () => result) as unknown as ISql<{ bigint: number }>;
  await expect(moveCheckpoint(fakeSql, 'moving', { after: 5, to: 9 })).rejects.toThrow(Superseded);
});
