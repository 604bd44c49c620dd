import { type Static, Type as t } from '@sinclair/typebox';
import type { CodeEvent } from '../../../events/code-events.ts';
import { linkOf } from '../../../events/link.ts';
import type { Recorded } from '../../../events/recorded.ts';
import { foldShortCode } from '../../../events/short-code.ts';
import type { Caller } from '../../accounts/admission.ts';
import type { CountedCode } from '../../codes/codes.ts';
import { type CodeRequest, lostShortCode, prepareCodes, takenShortCodes } from '../../codes/create.ts';
import { type ErrorCode, type FieldError, invalid, Refusal } from '../../lib/errors.ts';
import type { Proofs } from '../../proof/proofs.ts';
import { idempotencyHeader, performOnce } from '../http/idempotency.ts';
import { type Operation, operation } from '../http/operation.ts';
import { type ApiResponse, json } from '../http/responses.ts';
import { validator } from '../http/validate.ts';
import type { Service } from '../service.ts';
import { checkLogos } from './check-logos.ts';
import { checkStyles } from './check-styles.ts';
import { hashAll } from './code-passwords.ts';
import { presentCreated, readNewCode } from './new-code.ts';
import { NewQrCode, NewQrCodes } from './qrcode-requests.ts';
import { CreatedQrCode } from './qrcode-schemas.ts';

const tag = 'QR codes';

/** Error codes of every operation that creates codes. */
export const createErrors = [
  'invalid_request',
  'destination_blocked',
  'unreadable_style',
  'unsupported_characters',
  'quota_exceeded',
  'short_code_taken',
  'idempotency_conflict',
] as const satisfies ErrorCode[];

/** Validates only the list. Its items are validated one by one, so that every error has the index of its item. */
const checkList = validator(
  t.Object({ qrcodes: t.Array(t.Unknown(), { minItems: 1, maxItems: 1_000 }) }, { additionalProperties: false }),
  'body',
);

/** Operations that create one code, or many in one transaction. */
export const createOperations = (service: Service, proofs: Proofs): Operation[] => [
  createOne(service, proofs),
  createMany(service, proofs),
];

const createOne = (service: Service, proofs: Proofs): Operation =>
  operation({
    operationId: 'createQrCode',
    method: 'POST',
    path: '/v1/qrcodes',
    tag,
    summary: 'Create a QR code',
    description:
      'A style that is hard to scan is accepted; the response then has `warnings`. One that no decoder reads because of its logo, frame, gradient or quiet zone is refused, unless `allow_unreadable` is true. The variant shape `{"name", "type": "url", "destination"}` is accepted too.',
    headers: idempotencyHeader,
    body: NewQrCode,
    // Validated by readNewCode, so that one response names every error.
    checkBody: (body) => body as Static<typeof NewQrCode>,
    success: { status: 201, description: 'The new code.', schema: CreatedQrCode },
    errors: [...createErrors],
    handle: (call) => createFrom(service, proofs, call, ['create'], call.body),
  });

/** Creates the code of one create payload. An Idempotency-Key is bound to `kind` and the body of the request. */
export async function createFrom(
  service: Service,
  proofs: Proofs,
  call: CreateCall,
  kind: Kind,
  payload: unknown,
): Promise<ApiResponse> {
  const read = readNewCode(payload, service.addresses);
  if ('errors' in read) throw invalid(read.errors as [FieldError, ...FieldError[]]);
  const [password_hash] = await hashAll([read.password]);
  const request = { ...read.request, password_hash };
  const payloads = [payload as Static<typeof NewQrCode>];
  const [reasons] = await checkAll(service, proofs, call.caller, [request], payloads).catch((error) => {
    throw withoutIndexes(error);
  });
  return create(service, call, kind, [request], ([code], now) => {
    if (code === undefined) throw new Error('no code was created');
    return json(201, presentCreated(code, payload, service.addresses, { now, reasons }));
  });
}

const createMany = (service: Service, proofs: Proofs): Operation =>
  operation({
    operationId: 'createQrCodes',
    method: 'POST',
    path: '/v1/qrcodes/bulk',
    tag,
    summary: 'Create many QR codes',
    description:
      '1 to 1,000 create payloads, all or nothing: if an item is invalid or the quota does not suffice, nothing is created, and `details` names each of these items by its `index`.',
    headers: idempotencyHeader,
    body: NewQrCodes,
    checkBody: (body) => checkList(body) as Static<typeof NewQrCodes>,
    success: {
      status: 201,
      description: 'The new codes, in the given order.',
      schema: t.Object({ data: t.Array(CreatedQrCode) }, { additionalProperties: false }),
    },
    errors: [...createErrors],
    async handle(call) {
      const payloads = call.body.qrcodes;
      const requests = await readAll(service, payloads);
      const reasons = await checkAll(service, proofs, call.caller, requests, payloads);
      return create(service, call, ['bulk'], requests, (codes, now) =>
        json(201, {
          data: codes.map((code, i) =>
            presentCreated(code, payloads[i], service.addresses, { now, reasons: reasons[i] }),
          ),
        }),
      );
    },
  });

/** What the proof of each code says, before the transaction, which must be short. */
const checkAll = (
  service: Service,
  proofs: Proofs,
  caller: Caller,
  requests: readonly CodeRequest[],
  payloads: readonly Static<typeof NewQrCode>[],
) =>
  checkStyles(
    service,
    proofs,
    caller,
    requests.map((request, i) => ({ ...request, allowUnreadable: payloads[i]?.allow_unreadable === true })),
  );

interface CreateCall {
  caller: Caller;
  headers: Headers;
  body: unknown;
}

/** The operation, and the code that it copies. */
type Kind = ['create'] | ['bulk'] | ['duplicate', id: string];

/** Creates all codes or none. An Idempotency-Key is bound to `kind` too: a single and a bulk create cannot share one. */
async function create(
  { sql, clock, addresses, limits, webhooks: { box }, onChange }: Service,
  { caller, headers, body }: CreateCall,
  kind: Kind,
  requests: CodeRequest[],
  respond: (codes: CountedCode[], now: Date) => ApiResponse,
): Promise<ApiResponse> {
  const now = clock();
  let created: Recorded<CodeEvent>[] = [];
  const attempt = () =>
    performOnce(sql, {
      caller,
      headers,
      request: [...kind, body],
      now,
      perform: async (tx) => {
        const by = { actor: caller.actor, now };
        const createAll = async () => {
          await checkLogos(tx, caller, requests, addresses.shortBaseUrl);
          return prepareCodes(tx, box, caller, requests, by, limits);
        };
        const { codes, commit } = await createAll().catch((error) => {
          throw kind[0] === 'bulk' ? error : withoutIndexes(error);
        });
        return {
          response: respond(codes, now),
          async commit() {
            created = await commit();
          },
        };
      },
    });
  const answered = await attempt().catch((error) => {
    if (lostShortCode(error)) return attempt();
    throw error;
  });
  await onChange(created);
  return answered;
}

/** Validates the items of a bulk create; throws 400 with the errors of all of them. */
async function readAll(service: Service, payloads: readonly unknown[]): Promise<CodeRequest[]> {
  const { sql, addresses } = service;
  const read = payloads.map((payload) => readNewCode(payload, addresses));
  const errors = read.flatMap((item, index) =>
    'errors' in item ? item.errors.map((error) => ({ index, ...error })) : [],
  );
  const requests = read.map((item) => ('request' in item ? item.request : {}));
  errors.push(...repeatedShortCodes(requests));
  // The request is refused anyway, so also report taken short codes, which would fail the next attempt.
  if (errors.length > 0) errors.push(...(await takenShortCodes(sql, requests)));
  errors.sort((a, b) => a.index - b.index);
  const [first, ...rest] = errors;
  if (first !== undefined) throw invalid([first, ...rest]);
  const valid = read.flatMap((item) => ('request' in item ? [item] : []));
  const hashes = await hashAll(valid.map(({ password }) => password));
  return valid.map(({ request }, i) => ({ ...request, password_hash: hashes[i] }));
}

function repeatedShortCodes(
  requests: Pick<CodeRequest, 'short_code' | 'domain'>[],
): (FieldError & { index: number })[] {
  const seen = new Map<string, string>();
  return requests.flatMap(({ short_code: code, domain }, index) => {
    if (code === undefined) return [];
    const link = foldShortCode(linkOf(domain, code));
    const first = seen.get(link);
    if (first === undefined) {
      seen.set(link, code);
      return [];
    }
    const reason =
      first === code ? 'occurs more than once in qrcodes' : `differs only in case from "${first}", also in qrcodes`;
    return [{ index, field: 'short_code', message: `short_code "${code}" ${reason}; choose another.` }];
  });
}

/** Removes the index from errors of a single create, which has only one item. */
function withoutIndexes(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.details === undefined) return error;
  const details = error.details.flatMap(({ field, message }) => (field === 'qrcodes' ? [] : [{ field, message }]));
  const message = details[0] !== undefined && error.code === 'invalid_request' ? details[0].message : error.message;
  return new Refusal(error.code, message, details.length > 0 ? details : undefined, error.headers);
}
