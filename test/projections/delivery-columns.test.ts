import { Value } from '@sinclair/typebox/value';
import { describe, expect, test } from 'vitest';
import { lineOf, ScanLine } from '../../events/scan-line.ts';
import { contractScan, notificationOf } from '../../events/webhooks/notification.ts';
import { columnsOf, notificationIn } from '../../projections/delivery-columns.ts';
import { scanned } from '../support/scans.ts';

const scan = scanned({ code: 'qr_1', country: 'AT', city: 'Wien', device: 'ios' });
const entry = new ScanLine(lineOf({ ...scan, type: 'code_scanned', position: 7, is_unique: true }));

describe('the notification of a scan, with the body of the contract', () => {
  test('has data that matches the documented schema, and an id derived from the id of the scan', () => {
    const { id, data } = notificationOf(entry, 'contract');
    expect(Value.Check(contractScan, data)).toBe(true);
    expect(id).toBe(scan.id.replace('scan_', 'whd_'));
  });

  test('is stored in the columns that older versions read', () => {
    const notification = notificationOf(entry, 'contract');
    const columns = columnsOf(notification, 'contract');
    expect(columns).toMatchObject({ code: 'qr_1', scanned_at: scan.occurred_at, country: 'AT', city: 'Wien' });
    expect(columns).toMatchObject({ device: 'ios', is_unique: true, occurred_at: null, data: null });
    expect(notificationIn(columns)).toEqual(notification);
  });
});

test('any other notification is stored without the columns of a scan, and read by versions that do not know its type', () => {
  const timestamp = new Date('2026-05-03T12:00:00Z');
  const notification = { id: 'whd_1', type: 'code.unknown', code: 'qr_1', timestamp, data: { qr_id: 'qr_1' } };
  const columns = columnsOf(notification, 'event');
  expect(columns).toMatchObject({ scanned_at: null, country: null, city: null, device: null, is_unique: null });
  expect(notificationIn(columns)).toEqual(notification);
});
