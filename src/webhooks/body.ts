import type { Notification } from '../../events/notification.ts';

/** The body of a delivery, as documented in the API. */
export interface WebhookBody {
  event: string;
  timestamp: string;
  data: object;
}

export const bodyOf = ({ type, timestamp, data }: Pick<Notification, 'type' | 'timestamp' | 'data'>): WebhookBody => ({
  ...{ event: type, timestamp: timestamp.toISOString(), data },
});
