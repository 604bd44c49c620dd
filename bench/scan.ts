import { randomBytes } from 'node:crypto';
import type { Scan } from '../events/scan.ts';
import { newId } from '../src/lib/ids.ts';

/** A scan by a new visitor. */
export const scanOf = ({ id: code, account }: { id: string; account: string }): Scan => ({
  id: newId('scan', Date.now()),
  code,
  account,
  mode: 'live',
  occurred_at: new Date(),
  country: 'DE',
  region: 'Land Berlin',
  city: 'Berlin',
  device: 'ios',
  browser: 'safari',
  is_bot: false,
  visitor: randomBytes(16).toString('hex'),
  revision: 1,
});
