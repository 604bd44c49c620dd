import { findAnyCode, putBack, takeDown } from '../codes/takedown.ts';
import { StartError } from '../lib/errors.ts';
import { withDatabase } from './connection.ts';
import { readReason } from './reason.ts';
import { say, sayJson } from './terminal.ts';

interface Options {
  data: string;
  json?: boolean;
}

export async function codeTakedown(which: string, options: Options & { reason: string }): Promise<void> {
  const reason = readReason(options.reason);
  await decideOn(which, options, (sql, id) => takeDown(sql, id, reason, new Date()));
}

export const codeRestore = (which: string, options: Options): Promise<void> =>
  decideOn(which, options, (sql, id) => putBack(sql, id, new Date()));

async function decideOn(
  which: string,
  { data, json }: Options,
  decide: (sql: Parameters<typeof putBack>[0], id: string) => Promise<void>,
): Promise<void> {
  const code = await withDatabase(data, async (sql) => {
    const found = await findAnyCode(sql, which);
    if (found === undefined) throw new StartError(`There is no code ${which}: give its id (qr_…) or its short code.`);
    await decide(sql, found.id);
    return (await findAnyCode(sql, found.id)) ?? found;
  });
  const { id, short_code, account, disabled_reason: reason, disabled_at: at } = code;
  const disabled = reason === null || at === null ? null : { reason, at: at.toISOString() };
  if (json) return sayJson({ id, short_code, account_id: account, disabled });
  say(
    disabled === null
      ? `${short_code} (${id}) of ${account} is not disabled any longer.`
      : `${short_code} (${id}) of ${account} is disabled: its short link answers 410, and its owner sees the reason.`,
  );
}
