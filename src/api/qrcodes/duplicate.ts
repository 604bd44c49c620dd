import type { Static } from '@sinclair/typebox';
import { encodeFieldsOf } from '../../../events/code-fields.ts';
import { domainOf } from '../../../events/link.ts';
import { type CountedCode, codeNotFound, findCode } from '../../codes/codes.ts';
import { rulesToCopy } from '../../codes/rule-timezones.ts';
import { invalid } from '../../lib/errors.ts';
import type { Queryable } from '../../lib/sql.ts';
import type { Proofs } from '../../proof/proofs.ts';
import { findPerformed, idempotencyHeader } from '../http/idempotency.ts';
import { type Operation, operation } from '../http/operation.ts';
import type { Service } from '../service.ts';
import { createErrors, createFrom } from './create-qrcodes.ts';
import { QrCodeDuplicate } from './qrcode-requests.ts';
import { CreatedQrCode } from './qrcode-schemas.ts';

/** Creates a code from another. */
export const duplicateQrCode = (service: Service, proofs: Proofs): Operation =>
  operation({
    operationId: 'duplicateQrCode',
    method: 'POST',
    path: '/v1/qrcodes/:id/duplicate',
    tag: 'QR codes',
    summary: 'Duplicate a QR code',
    description:
      'Creates a code with a new short code on the same domain and the name, destination, style, rules, schedule, limit, fallback, query forwarding, utm, tags and note of this one: the way to another style, since the style of a code never changes. Send the fields that should differ, as for a create, or `{}`. `style` and `rules` are replaced as a whole, and `null` removes an optional field. The copy is active unless `status` is `draft`, also if the original is paused or a draft. It starts without scans and history, with its whole `max_scans`, and its rules have new ids. All checks of a create apply to the copy, also to the fields that it has from the original.',
    params: { id: 'Identifier of the code to copy, `qr_…`.' },
    headers: idempotencyHeader,
    body: QrCodeDuplicate,
    // Validated with the fields of the original by createFrom, so that one response names every error.
    checkBody: (body) => body as Static<typeof QrCodeDuplicate>,
    success: { status: 201, description: 'The new code.', schema: CreatedQrCode },
    errors: [...createErrors, 'not_found'],
    async handle(call) {
      const { sql, clock } = service;
      const { caller, headers, body } = call;
      const id = call.params['id'] ?? '';
      // The original may have been changed or deleted since the first response.
      const performed = await findPerformed(sql, { caller, headers, request: ['duplicate', id, body], now: clock() });
      if (performed !== undefined) return performed;
      const original = await findCode(sql, caller, id);
      if (original === undefined) throw await codeNotFound(sql, caller, id);
      const payload = override(await payloadOf(sql, original), overridesIn(body));
      return createFrom(service, proofs, call, ['duplicate', id], payload);
    },
  });

/** The create payload of an existing code, without its short code. */
async function payloadOf(sql: Queryable, code: CountedCode) {
  const { name, destination_url, style } = code;
  const domain = domainOf(code.short_code);
  const { rules, ...optional } = encodeFieldsOf(code);
  return {
    name,
    destination_url,
    ...(domain === undefined ? {} : { domain }),
    style,
    ...optional,
    ...(rules === undefined ? {} : { rules: await rulesToCopy(sql, code.account, rules) }),
  };
}

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields to override: the body, or the object `overrides` in it. */
function overridesIn(body: unknown): unknown {
  if (!isObject(body) || body['overrides'] === undefined) return body;
  const { overrides, ...others } = body;
  const errors = Object.keys(others).map((field) => ({
    field,
    message: `${field} must be in overrides, if it is given.`,
  }));
  if (!isObject(overrides)) errors.push({ field: 'overrides', message: 'overrides must be an object.' });
  const [first, ...rest] = errors;
  if (first !== undefined) throw invalid([first, ...rest]);
  return overrides;
}

/** Optional fields that a create payload has or has not; it accepts null for the others. */
const omittedByNull = ['short_code', 'domain', 'status', 'style', 'allow_unreadable'];

/** Returns what is not an object as it is, for the validation of the payload to refuse. */
function override({ destination_url, ...copied }: Fields, overrides: unknown): unknown {
  if (!isObject(overrides)) return overrides;
  const isVariant = overrides['destination'] !== undefined;
  const merged = { ...copied, ...(isVariant ? {} : { destination_url }), ...overrides };
  return Object.fromEntries(
    Object.entries(merged).filter(([field, value]) => value !== null || !omittedByNull.includes(field)),
  );
}
