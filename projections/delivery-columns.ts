import type { ContractScan, Notification } from '../events/webhooks/notification.ts';
import type { BodyFormat } from '../events/webhooks/webhook.ts';

/** The columns of `deliveries` that store a notification, beside `id`, `type` and `code`. */
interface Columns {
  occurred_at: Date | null;
  data: object | null;
  scanned_at: Date | null;
  country: string | null;
  city: string | null;
  device: string | null;
  is_unique: boolean | null;
}

export type DeliveryColumns = Pick<Notification, 'id' | 'type' | 'code'> & Columns;

export const deliveryColumns = [
  'id',
  'type',
  'code',
  'occurred_at',
  'data',
  'scanned_at',
  'country',
  'city',
  'device',
  'is_unique',
] as const satisfies (keyof DeliveryColumns)[];

const noScan = { scanned_at: null, country: null, city: null, device: null, is_unique: null };

/**
 * The columns that store a notification. A scan with the body of the contract has a column for each field, because instances
 * of older versions read them; any other notification has its data as JSON.
 */
export function columnsOf({ id, type, code, timestamp, data }: Notification, body: BodyFormat): DeliveryColumns {
  if (body === 'event') return { id, type, code, occurred_at: timestamp, data, ...noScan };
  const { qr_id, scan_id, country, city, device, is_unique, ...others } = data as ContractScan;
  // A compile error here: the new field of the contract needs a column.
  others satisfies Record<string, never>;
  return { id, type, code, occurred_at: null, data: null, scanned_at: timestamp, country, city, device, is_unique };
}

/** The notification that `columnsOf` stored, also of a type that this version does not know. */
export function notificationIn(row: DeliveryColumns): Notification {
  const { id, type, code, occurred_at, data, scanned_at } = row;
  if (scanned_at === null) {
    if (occurred_at === null || data === null) throw new Error(`The delivery ${id} has no data`);
    return { id, type, code, timestamp: occurred_at, data };
  }
  const { country, city, device, is_unique } = row;
  const scan_id = `scan_${id.slice('whd_'.length)}`;
  return { id, type, code, timestamp: scanned_at, data: { qr_id: code, scan_id, country, city, device, is_unique } };
}
