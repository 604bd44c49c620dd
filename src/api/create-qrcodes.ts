import { type Static, Type as t } from '@sinclair/typebox';
import type { Changed } from '../codes/change.ts';
import type { CountedCode } from '../codes/codes.ts';
import { type CodeRequest, createCodes, lostShortCode, takenShortCodes } from '../codes/create.ts';
import { type Fault, invalid, Refusal } from '../lib/errors.ts';
import type { Caller } from './admission.ts';
import { type Answer, json } from './answers.ts';
import { idempotencyHeader, performOnce } from './idempotency.ts';
import { presentCreated, readNewCode } from './new-code.ts';
import { type Operation, operation } from './operation.ts';
import { CreatedQrCode, NewQrCode, NewQrCodes } from './schemas.ts';
import type { Service } from './service.ts';
import { validator } from './validate.ts';

const tag = 'QR codes';
const errors = [
  'invalid_request',
  'destination_blocked',
  'quota_exceeded',
  'short_code_taken',
  'idempotency_conflict',
  'payload_too_large',
  'unsupported_media_type',
] as const;

/** The list only: its items are checked one by one, so that every fault is told with its index. */
const checkList = validator(
  t.Object({ qrcodes: t.Array(t.Unknown(), { minItems: 1, maxItems: 1_000 }) }, { additionalProperties: false }),
  'body',
);

/** Creating codes, one or many in one step. */
export function createOperations({
  sql,
  clock,
  addresses,
  maxTestCodes,
  webhooks: { box },
  onChange,
}: Service): Operation[] {
  /** Creates them all or none. `path` keeps one Idempotency-Key from standing for both kinds of request. */
  async function create(
    { caller, headers, body }: { caller: Caller; headers: Headers; body: unknown },
    path: 'create' | 'bulk',
    requests: CodeRequest[],
    answer: (codes: CountedCode[]) => Answer,
  ): Promise<Answer> {
    const now = clock();
    let created: Changed[] = [];
    const once = () =>
      performOnce(sql, {
        caller,
        headers,
        request: [path, body],
        now,
        perform: async (tx) => {
          const by = { actor: caller.key, now };
          created = await createCodes(tx, box, caller, requests, by, maxTestCodes).catch((error) => {
            throw path === 'create' ? withoutIndexes(error) : error;
          });
          return answer(created.map(({ code }) => code));
        },
      });
    const answered = await once().catch((error) => {
      if (lostShortCode(error)) return once();
      throw error;
    });
    await onChange(created.flatMap(({ events }) => events));
    return answered;
  }

  return [
    operation({
      method: 'POST',
      path: '/v1/qrcodes',
      tag,
      summary: 'Create a QR code',
      description:
        'A style that scanners will hardly read is accepted; the answer then has `warnings`. The variant shape `{"name", "type": "url", "destination"}` is understood too.',
      headers: idempotencyHeader,
      body: NewQrCode,
      // Read as a whole below, so that one answer names everything that is wrong.
      checkBody: (body) => body as Static<typeof NewQrCode>,
      success: { status: 201, description: 'The new code.', schema: CreatedQrCode },
      errors: [...errors],
      async handle(call) {
        const read = readNewCode(call.body, addresses);
        if ('faults' in read) throw invalid(read.faults as [Fault, ...Fault[]]);
        return create(call, 'create', [read.request], ([code]) => {
          if (code === undefined) throw new Error('nothing was created');
          return json(201, presentCreated(code, call.body, addresses));
        });
      },
    }),

    operation({
      method: 'POST',
      path: '/v1/qrcodes/bulk',
      tag,
      summary: 'Create many QR codes',
      description:
        '1 to 1,000 create payloads, all or nothing: on any fault, a quota that does not suffice included, nothing is created, and `details` names every faulty item by its `index`.',
      headers: idempotencyHeader,
      body: NewQrCodes,
      checkBody: (body) => checkList(body) as Static<typeof NewQrCodes>,
      success: {
        status: 201,
        description: 'The new codes, in the given order.',
        schema: t.Object({ data: t.Array(CreatedQrCode) }, { additionalProperties: false }),
      },
      errors: [...errors],
      async handle(call) {
        const payloads = call.body.qrcodes;
        const requests = await readAll(payloads);
        return create(call, 'bulk', requests, (codes) =>
          json(201, { data: codes.map((code, i) => presentCreated(code, payloads[i], addresses)) }),
        );
      },
    }),
  ];

  async function readAll(payloads: readonly unknown[]): Promise<CodeRequest[]> {
    const read = payloads.map((payload) => readNewCode(payload, addresses));
    const faults = read.flatMap((item, index) =>
      'faults' in item ? item.faults.map((fault) => ({ index, ...fault })) : [],
    );
    const shortCodes = read.map((item) => ('request' in item ? item.request.short_code : undefined));
    faults.push(...repeatedShortCodes(shortCodes));
    // Where the request is refused anyway, what would be refused next is told with it.
    if (faults.length > 0) faults.push(...(await takenShortCodes(sql, shortCodes)));
    faults.sort((a, b) => a.index - b.index);
    const [first, ...rest] = faults;
    if (first !== undefined) throw invalid([first, ...rest]);
    return read.flatMap((item) => ('request' in item ? [item.request] : []));
  }
}

function repeatedShortCodes(shortCodes: (string | undefined)[]): (Fault & { index: number })[] {
  const seen = new Set<string>();
  return shortCodes.flatMap((code, index) => {
    if (code === undefined) return [];
    if (!seen.has(code)) {
      seen.add(code);
      return [];
    }
    return [{ index, field: 'short_code', message: `short_code "${code}" is given more than once.` }];
  });
}

/** Of a single create there is only one item: saying which would be noise. */
function withoutIndexes(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.details === undefined) return error;
  const details = error.details.flatMap(({ field, message }) => (field === 'qrcodes' ? [] : [{ field, message }]));
  return new Refusal(error.code, error.message, details.length > 0 ? details : undefined, error.headers);
}
