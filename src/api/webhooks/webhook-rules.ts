const delivery =
  'Delivery is at least once: the same `webhook-id` may arrive more than once. Success is a 2xx within 15 s; redirects are not followed. A failed delivery is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each ±20 %; a longer `Retry-After` is honored up to twice the step.';
const signed =
  'signed according to [Standard Webhooks](https://www.standardwebhooks.com) with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`';

/** How events are delivered to `/v1/account/webhook`, for the documentation. */
export const deliveryRules = [
  `Every scan is POSTed as a \`scan.created\` event, ${signed}.`,
  delivery,
  'A response of 410, or 5 days without a successful delivery, disables the webhook; PUT it again to enable it.',
].join('\n\n');

/** How events are delivered to the webhooks of `/v1/webhooks`, for the documentation. */
export const eventRules = [
  `Every event that passes the filters of a webhook is POSTed as \`{type, timestamp, data}\`, ${signed}. \`data\` is the same as in the event feed. The \`webhook-id\` belongs to the event: two webhooks that get the same event get it under the same id.`,
  delivery,
  'A response of 410, or 5 days without a successful delivery, disables the webhook; `PATCH {"active": true}` enables it again. A slow or failing receiver delays no other webhook.',
].join('\n\n');

/** What happens to deliveries that wait. */
export const pendingRules =
  'When a webhook is paused, removed or disabled, or its account changes to the Free plan, pending deliveries become `failed` with the reason, and can be resent for 30 days. When the URL changes, pending deliveries go to the new URL. Pending deliveries of a deleted code are still sent.';

export const rotationRules =
  'Creates a new secret. For 24 hours deliveries carry two signatures, by the new and by the previous secret, so that receivers can switch at any time. Rotating again within that time invalidates the oldest secret at once.';

export const resendRules =
  'Sends the delivery again, whatever its status: now, with the same `webhook-id`, to the current URL, and with the full series of retries.';

/** How the example event of a test is sent. */
export const testRules =
  'Takes as long as the receiver, up to 15 s. It is not retried and not listed in the delivery log. It counts as one of the 8 concurrent requests of a webhook: if all 8 are in use, it waits up to 5 s, then answers 503 `unavailable`.';
