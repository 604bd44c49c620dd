import { notificationTypes } from '../../events/notification-types.ts';

const occasions = Object.entries(notificationTypes).map(
  ([type, { occasion }]) => `${occasion} is POSTed as a \`${type}\` event`,
);

/** How events are delivered, for the documentation. */
export const deliveryRules = [
  `${occasions.join(', ')}, signed according to [Standard Webhooks](https://www.standardwebhooks.com) with the headers \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`.`,
  'Delivery is at least once: the same `webhook-id` may arrive more than once. Success is a 2xx within 15 s; redirects are not followed. A failed delivery is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each ±20 %; a longer `Retry-After` is honored up to twice the step.',
  'A response of 410, or 5 days without a successful delivery, disables the webhook; PUT it again to enable it.',
].join('\n\n');
