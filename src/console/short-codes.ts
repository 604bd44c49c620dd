import { type Static, Type as t } from '@sinclair/typebox';
import { problemWithShortCode } from '../../events/reserved-words.ts';
import { type Operation, operation } from '../api/http/operation.ts';
import { json } from '../api/http/responses.ts';
import type { Service } from '../api/service.ts';
import { takenShortCodes } from '../codes/create.ts';

const ShortCodes = t.Object(
  {
    short_codes: t.Array(t.String({ maxLength: 100, 'x-expected': 'a string' }), { minItems: 1, maxItems: 1_000 }),
    domain: t.Optional(t.String({ maxLength: 253, 'x-expected': 'the name of a domain' })),
  },
  { additionalProperties: false },
);

const Checked = t.Object({
  data: t.Array(t.Object({ short_code: t.String(), fault: t.Union([t.String(), t.Null()]) })),
});

/** Checks whether short codes are valid and available, while the user types or before an import is submitted. */
export const checkShortCodes = ({ sql }: Service): Operation =>
  operation({
    operationId: 'checkShortCodes',
    method: 'POST',
    path: '/v1/short-codes/check',
    tag: 'QR codes',
    summary: 'Check which short codes are available',
    description: 'For the console only: checks up to 1,000 short codes before codes are created with them.',
    body: ShortCodes,
    success: {
      status: 200,
      description: 'Each short code with its error, or null when it is available.',
      schema: Checked,
    },
    errors: ['invalid_request'],
    async handle({ body: { short_codes, domain } }) {
      const errors = short_codes.map(problemWithShortCode);
      const taken = await takenShortCodes(
        sql,
        short_codes.map((code, i) => ({ short_code: errors[i] === undefined ? code : undefined, domain })),
      );
      for (const { index, message } of taken) errors[index] = message.replace(/^short_code "[^"]*" |\.$/g, '');
      const data = short_codes.map((short_code, i) => ({ short_code, fault: errors[i] ?? null }));
      return json(200, { data } satisfies Static<typeof Checked>);
    },
  });
