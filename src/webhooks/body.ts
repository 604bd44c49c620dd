import type { Notification } from '../../events/webhooks/notification.ts';
import type { BodyFormat } from '../../events/webhooks/webhook.ts';

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

type Reported = Pick<Notification, 'type' | 'timestamp' | 'data'>;

interface NamedReport extends Reported {
  /** The present name of the code; null if it has none. */
  qr_name: string | null;
}

export const contractBodyOf = ({ type, timestamp, data }: Reported): ContractBody => ({
  event: type,
  timestamp: timestamp.toISOString(),
  data,
});

const eventBodyOf = ({ type, timestamp, data, qr_name }: NamedReport): EventBody => ({
  type,
  timestamp: timestamp.toISOString(),
  data: qr_name === null ? data : { ...data, qr_name },
});

export const bodyOf = (notification: NamedReport, format: BodyFormat): WebhookBody =>
  format === 'contract' ? contractBodyOf(notification) : eventBodyOf(notification);
