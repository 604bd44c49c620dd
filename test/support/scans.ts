import { createHash } from 'node:crypto';
import type { Scan } from '../../events/scan.ts';
import { newId } from '../../src/lib/ids.ts';

/** A visitor hash for a name. */
export const visitorNamed = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 32);

/** A scan by a new visitor; `fields` replace or add to it. */
export const scanned = (fields: Partial<Scan> = {}): Scan => {
  const id = newId('scan', Date.now());
  return {
    id,
    code: 'qr_1',
    account: 'acct_1',
    mode: 'live',
    occurred_at: new Date(),
    country: 'DE',
    region: 'Bavaria',
    city: 'Munich',
    device: 'ios',
    browser: 'safari',
    is_bot: false,
    visitor: visitorNamed(id),
    revision: 1,
    ...fields,
  };
};
