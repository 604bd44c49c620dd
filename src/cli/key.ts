import { operator } from '../../events/recorded.ts';
import { findKey, revoke } from '../accounts/keys.ts';
import { StartError } from '../lib/errors.ts';
import { withDatabase } from './connection.ts';
import { print, printJson } from './terminal.ts';

export async function keyRevoke(id: string, options: { data: string; json?: boolean }): Promise<void> {
  const account = await withDatabase(options.data, async (sql) => {
    const key = await findKey(sql, id);
    if (key === undefined)
      throw new StartError(
        `There is no key ${id}, or it is revoked: run ./scanlog account keys <account> to see keys.`,
      );
    await revoke(sql, key.account, id, { actor: operator, now: new Date() });
    return key.account;
  });
  if (options.json) return printJson({ key_id: id, account_id: account, revoked: true });
  print(`${id} of ${account} is revoked: every instance rejects it from the next request on.`);
}
