import { expect, test } from 'vitest';
import { auditText } from '../../src/console/app/account/audit-text.ts';
import { auditTypes } from '../../src/feed/audit.ts';

const names = new Map([['key_1', 'Website']]);

test.each(auditTypes)('the console has words for %s', (type) => {
  expect(auditText({ type, data: {} } as never, names).what).not.toBe(type);
});

test.each([
  ['key.revoked', { key_id: 'key_1' }, { what: 'Key revoked', detail: 'Website' }],
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
])('an event %s with %j says what happened, and names keys', (type, data, text) => {
  expect(auditText({ type, data } as never, names)).toEqual(text);
});
