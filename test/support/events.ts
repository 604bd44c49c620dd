import type { AccountEvent } from '../../events/account.ts';
import { createCode, type NewCode } from '../../events/code.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { NewEvent } from '../../events/recorded.ts';
import { newId, newRuleId } from '../../src/lib/ids.ts';

/** The first event of an account. */
export const opened = (stream = newId('acct', Date.now()), version = 1): NewEvent<AccountEvent> => ({
  stream,
  version,
  event: { type: 'account_created', data: { name: 'Test', plan: 'free' } },
});

/** The first event of a code. */
export const made = (fields: Partial<NewCode> = {}, stream = newId('qr', Date.now())): NewEvent<CodeEvent> => ({
  stream,
  version: 1,
  event: createCode(
    {
      account: 'acct_1',
      mode: 'live',
      name: 'Menu',
      destination_url: 'https://example.com/menu',
      short_code: stream.slice(-12),
      short_code_given: false,
      status: 'active',
      style: {},
      ...fields,
    },
    newRuleId,
  ),
});
