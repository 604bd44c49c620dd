import { findAnyCode, restore, takeDown } from '../codes/takedown.ts';
import { addressesOf } from '../config/config.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { findCodesOfAll } from '../operator/codes.ts';
import { findConfig, withDatabase } from './connection.ts';
import { readReason } from './reason.ts';
import { print, printJson, table } from './terminal.ts';

interface Options {
  data: string;
  json?: boolean;
}

/** Prints the first codes that a search finds. */
export async function codeFind(search: string, { data, json, everywhere = false }: Options & { everywhere?: boolean }) {
  const config = findConfig(data);
  const { shortBaseUrl } = addressesOf(config, config.port);
  const { data: codes, next } = await withDatabase(data, (sql) =>
    findCodesOfAll(sql, { search, everywhere, after: undefined, shortBaseUrl }),
  );
  const found = codes.map((code) => ({
    id: code.id,
    short_code: code.short_code,
    account_id: code.account,
    account_name: code.account_name,
    destination_url: code.destination_url,
    disabled_reason: code.disabled_reason,
  }));
  if (json) return printJson(found);
  if (found.length === 0) return void print('No code was found.');
  const rows = found.map((code) => [
    code.short_code,
    code.id,
    code.account_id,
    code.destination_url,
    code.disabled_reason ?? '',
  ]);
  print(table([['SHORT CODE', 'ID', 'ACCOUNT', 'DESTINATION', 'TAKEN DOWN'], ...rows]));
  if (next !== null) print(`\nThese are the first ${found.length}: search for more of the text.`);
}

export async function codeTakedown(idOrShortCode: string, options: Options & { reason: string }): Promise<void> {
  const reason = readReason(options.reason);
  await changeCode(idOrShortCode, options, (sql, id) => takeDown(sql, id, reason, new Date()));
}

export const codeRestore = (idOrShortCode: string, options: Options): Promise<void> =>
  changeCode(idOrShortCode, options, (sql, id) => restore(sql, id, new Date()));

async function changeCode(
  idOrShortCode: string,
  { data, json }: Options,
  change: (sql: Sql, id: string) => Promise<unknown>,
): Promise<void> {
  const code = await withDatabase(data, async (sql) => {
    const found = await findAnyCode(sql, idOrShortCode);
    if (found === undefined)
      throw new StartError(`There is no code ${idOrShortCode}: give its id (qr_…) or its short code.`);
    await change(sql, found.id);
    return (await findAnyCode(sql, found.id)) ?? found;
  });
  const { id, short_code, account, disabled_reason: reason, disabled_at: at } = code;
  const disabled = reason === null || at === null ? null : { reason, at: at.toISOString() };
  if (json) return printJson({ id, short_code, account_id: account, disabled });
  print(
    disabled === null
      ? `${short_code} (${id}) of ${account} is no longer disabled.`
      : `${short_code} (${id}) of ${account} is disabled: its short link answers 410, and its owner sees the reason.`,
  );
}
