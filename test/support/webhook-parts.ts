import { createSecretBox } from '../../src/lib/secret-box.ts';
import { createSender } from '../../src/webhooks/send.ts';

const policy = { allowHttp: false, allowed: { v4: [], v6: [] } };

/** Webhook dependencies for tests that do not test webhooks. */
export const webhookParts = { box: createSecretBox('x'.repeat(32)), policy, send: createSender({ policy }) };
