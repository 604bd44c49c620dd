import type { Static } from '@sinclair/typebox';
import { problemWithDestination, problemWithName } from '../../../events/fields.ts';
import { readHost } from '../../../events/hosts.ts';
import { problemWithPassword } from '../../../events/password.ts';
import { readFields } from '../../../events/read-fields.ts';
import { problemWithShortCode } from '../../../events/reserved-words.ts';
import type { Style } from '../../../events/style.ts';
import type { CountedCode } from '../../codes/codes.ts';
import type { CodeRequest } from '../../codes/create.ts';
import type { Addresses } from '../../config/config.ts';
import type { FieldError } from '../../lib/errors.ts';
import type { Reason } from '../../proof/proof.ts';
import frameFont from '../../qr/frame-font.json' with { type: 'json' };
import { styleWarnings } from '../../qr/warnings.ts';
import { errorFinder } from '../http/validate.ts';
import { presentCode } from './present.ts';
import { NewQrCode } from './qrcode-requests.ts';
import type { CreatedQrCode } from './qrcode-schemas.ts';

const schemaErrors = errorFinder(NewQrCode, 'body');

/** Validates a create payload: returns the code to create, or every error in the payload. */
export function readNewCode(
  payload: unknown,
  addresses: Addresses,
): { request: CodeRequest; password: string | undefined } | { errors: FieldError[] } {
  const errors = schemaErrors(payload);
  if (errors.length > 0 && (typeof payload !== 'object' || payload === null || Array.isArray(payload)))
    return { errors };
  const { name, short_code, domain, status, style, password, ...rest } = payload as Partial<Static<typeof NewQrCode>>;
  const destinationField =
    rest.destination_url === undefined && rest.destination !== undefined ? 'destination' : 'destination_url';
  const destination = rest[destinationField];

  const add = (field: string, problem: string | undefined) => {
    if (problem !== undefined && !errors.some((error) => error.field === field))
      errors.push({ field, message: `${field} ${problem}.` });
  };
  if (typeof name === 'string') add('name', problemWithName(name));
  if (destination === undefined) add('destination_url', 'is required');
  if (typeof destination === 'string') add(destinationField, problemWithDestination(destination, ...addresses.ownUrls));
  if (typeof short_code === 'string') add('short_code', problemWithShortCode(short_code));
  const host = typeof domain === 'string' ? readHost(domain) : undefined;
  if (typeof domain === 'string' && host === undefined)
    add('domain', 'must be the name of a domain, such as go.example.com');
  if (password !== undefined && password !== null) add('password', problemWithPassword(password));
  if (rest.destination !== undefined && rest.destination !== destination)
    add('destination', 'must be the same as destination_url when both are given');
  const { change: optional, problems } = readFields(rest, addresses.ownUrls);
  for (const { field, problem } of problems) add(field, problem);
  if (errors.length > 0) return { errors };

  return {
    request: {
      name: (name as string).trim(),
      destination_url: destination as string,
      short_code,
      domain: host,
      status,
      style,
      optional,
    },
    password: password ?? undefined,
  };
}

/**
 * The response to a create: the code, warnings about its style, and the variant fields if the payload used them. The
 * warnings are the reasons of its proof, if it has one.
 */
export function presentCreated(
  code: CountedCode,
  payload: unknown,
  addresses: Addresses,
  { now, reasons }: { now: Date; reasons: Reason[] | undefined },
): Static<typeof CreatedQrCode> {
  const presented = presentCode(code, addresses, { now });
  const warnings = reasons ?? warningsOf(code.style);
  const request = payload as Partial<Static<typeof NewQrCode>>;
  const isVariant = request.type !== undefined || request.destination !== undefined;
  return {
    ...presented,
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(isVariant ? { type: 'url', destination: code.destination_url, scans: 0 } : {}),
  };
}

const warningsOf = (style: Style): Reason[] =>
  styleWarnings(style, frameFont).map(({ field, message }) => ({ field: `style.${field}`, message }));
