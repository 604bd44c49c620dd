import { isSubscription } from '../../events/endpoint.ts';
import type { Notification } from '../../events/notification.ts';

/** The body of a delivery to the webhook of `/v1/account/webhook`, as documented in the API. */
export interface ContractBody {
  event: string;
  timestamp: string;
  data: object;
}

/** The body of a delivery to a webhook of `/v1/webhooks`, as Standard Webhooks recommends. */
export interface EventBody {
  type: string;
  timestamp: string;
  data: object;
}

export type WebhookBody = ContractBody | EventBody;

export const bodyOf = ({ type, timestamp, data }: Pick<Notification, 'type' | 'timestamp' | 'data'>): ContractBody => ({
  ...{ event: type, timestamp: timestamp.toISOString(), data },
});

const eventBodyOf = ({ type, timestamp, data }: Pick<Notification, 'type' | 'timestamp' | 'data'>): EventBody => ({
  ...{ type, timestamp: timestamp.toISOString(), data },
});

/** How bodies are made for the endpoint with this key. */
export const bodyFor = (mode: string): ((notification: Notification) => WebhookBody) =>
  isSubscription(mode) ? eventBodyOf : bodyOf;
