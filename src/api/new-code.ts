import type { Static } from '@sinclair/typebox';
import { problemWithDestination, problemWithName } from '../../events/fields.ts';
import type { CountedCode } from '../codes/codes.ts';
import type { CodeRequest } from '../codes/create.ts';
import type { Addresses } from '../config.ts';
import type { Fault } from '../lib/errors.ts';
import { problemWithShortCode } from '../lib/short-code.ts';
import { styleWarnings } from '../qr/warnings.ts';
import { presentCode } from './present.ts';
import { type CreatedQrCode, NewQrCode } from './schemas.ts';
import { faultsBy } from './validate.ts';

const faultsOfShape = faultsBy(NewQrCode, 'body');

/** What a create payload asks for, or everything that is wrong with it. */
export function readNewCode(payload: unknown, addresses: Addresses): { request: CodeRequest } | { faults: Fault[] } {
  const faults = faultsOfShape(payload);
  if (faults.length > 0 && (typeof payload !== 'object' || payload === null || Array.isArray(payload)))
    return { faults };
  const { name, short_code, status, style, ...rest } = payload as Partial<Static<typeof NewQrCode>>;
  const spelling =
    rest.destination_url === undefined && rest.destination !== undefined ? 'destination' : 'destination_url';
  const destination = rest[spelling];

  const add = (field: string, fault: string | undefined) => {
    if (fault !== undefined && !faults.some((known) => known.field === field))
      faults.push({ field, message: `${field} ${fault}.` });
  };
  if (typeof name === 'string') add('name', problemWithName(name));
  if (destination === undefined) add('destination_url', 'is required');
  if (typeof destination === 'string') add(spelling, problemWithDestination(destination, ...addresses.ownUrls));
  if (typeof short_code === 'string') add('short_code', problemWithShortCode(short_code));
  if (rest.destination !== undefined && rest.destination !== destination)
    add('destination', 'must be the same as destination_url when both are given');
  if (faults.length > 0) return { faults };

  return {
    request: { name: (name as string).trim(), destination_url: destination as string, short_code, status, style },
  };
}

/** The new code, with what its maker should know: warnings, and the variant shape where that was used. */
export function presentCreated(
  code: CountedCode,
  payload: unknown,
  addresses: Addresses,
): Static<typeof CreatedQrCode> {
  const presented = presentCode(code, addresses);
  const warnings = styleWarnings(code.style).map(({ field, message }) => ({ field: `style.${field}`, message }));
  const asked = payload as Partial<Static<typeof NewQrCode>>;
  const isVariant = asked.type !== undefined || asked.destination !== undefined;
  return {
    ...presented,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(isVariant ? { type: 'url', destination: code.destination_url, scans: 0 } : {}),
  };
}
