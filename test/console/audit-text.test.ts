import { expect, test } from 'vitest';
import { auditText } from '../../src/console/app/account/audit-text.ts';
import { auditTypes } from '../../src/feed/audit.ts';

const names = new Map([['key_1', 'Website']]);

test.each(auditTypes)('the console has words for %s', (type) => {
  expect(auditText({ type, data: { expires_at: '2026-12-31T23:00:00.000Z' } } as never, names).what).not.toBe(type);
});

test.each([
  ['key.revoked', { key_id: 'key_1' }, { what: 'Key revoked', detail: 'Website' }],
  [
    'key.created',
    {
      name: 'CI',
      mode: 'live',
      last4: 'x7Qa',
      scopes: ['codes.read'],
      expires_at: null,
      allowed_cidrs: ['10.0.0.0/8'],
    },
    { what: 'Key “CI” created', detail: 'live key ending in x7Qa, with codes.read, from 10.0.0.0/8' },
  ],
  ['webhook.updated', { to: { active: false } }, { what: 'Webhook paused' }],
  [
    'webhook.updated',
    { to: { url: 'https://a.example', tags: ['x'] } },
    { what: 'Webhook changed', detail: 'URL, tags' },
  ],
  [
    'account.reverted',
    { actor: 'key_1', changed: 1 },
    { what: 'Changes of a key undone', detail: 'Website: 1 code changed' },
  ],
  [
    'account.reverted',
    { actor: 'key_1/claude-code', changed: 2 },
    { what: 'Changes of a key undone', detail: 'claude-code with Website: 2 codes changed' },
  ],
])('an event %s with %j says what happened, and names keys', (type, data, text) => {
  expect(auditText({ type, data } as never, names)).toEqual(text);
});
