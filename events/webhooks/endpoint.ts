import type { Owner } from '../owner.ts';
import type { Mode } from '../plans.ts';

/**
 * Identifies a webhook within its account. `webhook` is its id (`wh_…`); the id of the webhook of `/v1/account/webhook` is its
 * mode, because its events have no id.
 */
export interface EndpointKey {
  account: string;
  webhook: string;
}

/** The key as one text, for maps and encryption contexts. */
export const endpointKey = ({ account, webhook }: EndpointKey): string => `${account}/${webhook}`;

/** The last character of the id of an account's webhook. */
const modeLetters: Record<Mode, string> = { live: 'L', test: 'T' };

const isMode = (webhook: string): webhook is Mode => Object.hasOwn(modeLetters, webhook);

/**
 * The id of a webhook that its account sees.
 *
 * @example webhookId({ account: 'acct_0VMNcq2hE3kx0dTtWq8LbY', webhook: 'live' }) // 'wh_0VMNcq2hE3kx0dTtWq8LbYL'
 */
export const webhookId = ({ account, webhook }: EndpointKey): string =>
  isMode(webhook) ? `wh_${account.slice(account.indexOf('_') + 1)}${modeLetters[webhook]}` : webhook;

/** The key of the webhook of `/v1/account/webhook`. */
export const accountWebhookKey = ({ account, mode }: Owner): EndpointKey => ({ account, webhook: mode });

/** The key of the owner's webhook with this id. */
export function keyOfWebhook(owner: Owner, id: string): EndpointKey {
  const key = accountWebhookKey(owner);
  return id === webhookId(key) ? key : { account: owner.account, webhook: id };
}
