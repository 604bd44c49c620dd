import type { Key } from '../../events/key.ts';
import { operator } from '../../events/recorded.ts';
import { findKey, maxOverlapHours, revoke, rotate } from '../accounts/keys.ts';
import { Refusal, StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { withDatabase } from './connection.ts';
import { bold, print, printJson, table } from './terminal.ts';

interface Options {
  data: string;
  json?: boolean;
}

async function requireKey(sql: Sql, id: string): Promise<Key> {
  const key = await findKey(sql, id);
  if (key !== undefined) return key;
  throw new StartError(`There is no key ${id}, or it is revoked: run ./scanlog account keys <account> to see keys.`);
}

export async function keyRevoke(id: string, options: Options): Promise<void> {
  const account = await withDatabase(options.data, async (sql) => {
    const key = await requireKey(sql, id);
    await revoke(sql, key.account, id, { actor: operator, now: new Date() });
    return key.account;
  });
  if (options.json) return printJson({ key_id: id, account_id: account, revoked: true });
  print(`${id} of ${account} is revoked: every instance rejects it from the next request on.`);
}

/** Replaces a key by one with the same settings and another secret, which is printed once. */
export async function keyRotate(id: string, options: Options & { overlap: string }): Promise<void> {
  const overlapHours = Number(options.overlap);
  if (options.overlap.trim() === '' || !(overlapHours >= 0 && overlapHours <= maxOverlapHours))
    throw new StartError(`--overlap must be a number of hours from 0 to ${maxOverlapHours}, not ${options.overlap}.`);
  const { account, minted, settings, replaced } = await withDatabase(options.data, async (sql) => {
    const key = await requireKey(sql, id);
    const by = { actor: operator, now: new Date() };
    const rotated = await rotate(sql, key.account, id, { overlapHours }, by).catch((error) => {
      throw error instanceof Refusal ? new StartError(error.message) : error;
    });
    return { account: key.account, ...rotated };
  });
  const works_until = replaced.works_until.toISOString();
  if (options.json)
    return printJson({ account_id: account, key_id: minted.id, key: minted.secret, replaced: { id, works_until } });
  print(
    table([
      ['account', account],
      ['key id', minted.id],
      [`${settings.mode} key`, bold(minted.secret)],
    ]),
  );
  print('\nThe key is printed only once: store it in a safe place.');
  print(overlapHours === 0 ? `${id} no longer works.` : `${id} works until ${works_until}.`);
}
