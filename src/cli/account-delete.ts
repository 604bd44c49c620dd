import { findAccount } from '../accounts/accounts.ts';
import { deleteAccount } from '../accounts/delete.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { abandonImport } from '../maintenance/portable/abandon.ts';
import { eraseAccount } from '../maintenance/run-erasures.ts';
import { noAccount } from './account.ts';
import { withDatabase } from './connection.ts';
import { progressBar } from './progress.ts';
import { ask, print, printJson } from './terminal.ts';

/** The warehouse removes the scans of deleted codes every 30 s, or sooner. */
const waitTimeoutMs = 90_000;

interface Options {
  data: string;
  json?: boolean;
  yes?: boolean;
}

/** Deletes an account and waits for its erasure; a second run continues to wait. */
export async function accountDelete(id: string, { data, json, yes = false }: Options): Promise<void> {
  const result = await withDatabase(data, async (sql) => {
    if (!(await isDeleted(sql, id))) await deleteNow(sql, id, yes);
    const bar = progressBar('erasing');
    const waitsFor = await eraseAccount(sql, id, { timeoutMs: waitTimeoutMs, onProgress: bar.update });
    bar.end();
    return { waitsFor, erasure: await findErasure(sql, id) };
  });
  const { erasure, waitsFor } = result;
  if (json)
    return printJson({
      account_id: id,
      deleted_at: erasure?.requested_at.toISOString() ?? null,
      erased_at: erasure?.done_at?.toISOString() ?? null,
      ...(waitsFor === undefined ? {} : { waits_for: waitsFor }),
    });
  print(
    waitsFor === undefined
      ? `${id} is deleted and its data is erased. Its short links answer 410, and its short codes are never reused.`
      : `${id} is deleted: its keys no longer work, and its short links answer 410. Its erasure waits for ${waitsFor}; the service completes it in the background.`,
  );
}

async function deleteNow(sql: Sql, id: string, yes: boolean): Promise<void> {
  const account = await findAccount(sql, id);
  if (account === undefined) {
    if (!(await abandonImport(sql, id, new Date()))) throw noAccount(id);
    return;
  }
  if (!yes) await confirm(id, account.name);
  await deleteAccount(sql, id, new Date());
}

async function findErasure(
  sql: Sql,
  account: string,
): Promise<{ requested_at: Date; done_at: Date | null } | undefined> {
  const [erasure] = await sql<{ requested_at: Date; done_at: Date | null }[]>`
    SELECT requested_at, done_at FROM erasures WHERE account = ${account}`;
  return erasure;
}

const isDeleted = async (sql: Sql, account: string) => (await findErasure(sql, account)) !== undefined;

async function confirm(id: string, name: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new StartError(`Deleting ${id} (${name}) cannot be undone: repeat the command with --yes.`);
  const answer = await ask(`Deleting ${name} cannot be undone. Type ${id} to delete it: `);
  if (answer !== id) throw new StartError('Nothing was deleted: the id did not match.');
}
