import { type Owner, ownerKey } from './owner.ts';
import type { Mode } from './plans.ts';

/**
 * Identifies a webhook in the tables of endpoints, deliveries and secrets. `mode` is the mode for the webhook of
 * `/v1/account/webhook`, and the id (`wh_…`) for any other: migration 0021 says why.
 */
export interface EndpointKey {
  account: string;
  mode: string;
}

/** The key as one text, for maps and encryption contexts. */
export const endpointKey: (key: EndpointKey) => string = ownerKey;

const prefix = 'wh_';
/** The last character of the id of an account's webhook. */
const modeLetters: Record<Mode, string> = { live: 'L', test: 'T' };

/** Whether `mode` of a key names a webhook of `/v1/webhooks`, and not the one of `/v1/account/webhook`. */
export const isSubscription = (mode: string): boolean => mode.startsWith(prefix);

/**
 * The id under which the webhook of `/v1/account/webhook` is listed. It is derived, since its events have none.
 *
 * @example accountWebhookId({ account: 'acct_0VMNcq2hE3kx0dTtWq8LbY', mode: 'live' }) // 'wh_0VMNcq2hE3kx0dTtWq8LbYL'
 */
export const accountWebhookId = ({ account, mode }: Owner): string =>
  `${prefix}${account.slice(account.indexOf('_') + 1)}${modeLetters[mode]}`;

/** The key of the owner's webhook with this id. */
export const keyOfWebhook = ({ account, mode }: Owner, id: string): EndpointKey =>
  id === accountWebhookId({ account, mode }) ? { account, mode } : { account, mode: id };
