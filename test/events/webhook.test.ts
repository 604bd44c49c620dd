import { describe, expect, test } from 'vitest';
import {
  changeWebhook,
  disableWebhook,
  removeWebhook,
  rotateWebhook,
  setWebhook,
} from '../../events/webhooks/change-webhook.ts';
import { accountWebhookKey, keyOfWebhook, webhookId } from '../../events/webhooks/endpoint.ts';
import { evolveWebhook, type Webhook, type WebhookEvent } from '../../events/webhooks/webhook.ts';

const owner = { account: 'acct_0VMNcq2hE3kx0dTtWq8LbY', mode: 'live' as const };
const url = 'https://example.com/a';
const [first, second] = [new Date('2026-05-01T00:00:00Z'), new Date('2026-05-02T00:00:00Z')];

function evolved(webhook: Webhook | undefined, events: WebhookEvent[], occurred_at: Date): Webhook | undefined {
  const envelope = { id: 'evt_1', stream: owner.account, version: 1, actor: 'key_1', occurred_at };
  return events.reduce((state: Webhook | undefined, event) => evolveWebhook(state, { ...event, ...envelope }), webhook);
}
const given = () => evolved(undefined, setWebhook(undefined, 'live', url), first) as Webhook;

describe('the webhook of /v1/account/webhook', () => {
  test('is a webhook that gets scans, with the body of the contract', () => {
    expect(given()).toEqual({
      account: owner.account,
      webhook: 'live',
      mode: 'live',
      body: 'contract',
      events: ['scan.created'],
      qr_ids: null,
      tags: null,
      url,
      description: '',
      status: 'enabled',
      reason: null,
      since: first,
      created_at: first,
      updated_at: first,
    });
  });

  test('has an id for its account, by which it is found', () => {
    const key = accountWebhookKey(owner);
    expect(webhookId(key)).toBe('wh_0VMNcq2hE3kx0dTtWq8LbYL');
    expect(keyOfWebhook(owner, webhookId(key))).toEqual(key);
    const other = keyOfWebhook(owner, 'wh_0VMNcq2hE3kx0dTtWq8LbY');
    expect([other.webhook, webhookId(other)]).toEqual(['wh_0VMNcq2hE3kx0dTtWq8LbY', 'wh_0VMNcq2hE3kx0dTtWq8LbY']);
  });

  test('is enabled again by its URL, also by the one that it has', () => {
    const disabled = evolved(given(), disableWebhook(given(), 'gone'), second) as Webhook;
    expect(disabled).toMatchObject({ status: 'disabled', reason: 'gone', since: second });
    const set = { type: 'webhook_set', data: { mode: 'live', url } };
    expect(changeWebhook(disabled, { url })).toEqual([set]);
    expect(changeWebhook(disabled, { active: true })).toEqual([set]);
    expect(changeWebhook(disabled, { description: '' })).toEqual([]);
    expect(changeWebhook(given(), { url, active: true }), 'it is enabled').toEqual([]);
  });

  test('has events that name its mode', () => {
    expect(rotateWebhook(given())).toEqual([{ type: 'webhook_rotated', data: { mode: 'live' } }]);
    expect(removeWebhook(given())).toEqual([{ type: 'webhook_removed', data: { mode: 'live' } }]);
    expect(evolved(given(), removeWebhook(given()), second)).toBeUndefined();
  });
});
