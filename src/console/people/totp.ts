import { type Operation, operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import { Deleted } from '../../api/http/schemas.ts';
import { invalid, notFound, Refusal } from '../../lib/errors.ts';
import { beginTotp, confirmTotp, hasTotp, removeTotp, replaceRecoveryCodes } from '../../people/totp.ts';
import type { Console } from '../context.ts';
import { RecoveryCodes, TotpCode, TotpSetup } from './credential-schemas.ts';
import { requireUser } from './me.ts';
import { originOf } from './origin.ts';

const tag = 'Account';
const description = 'For the console only, and only for people.';

/** Operations of people on their one-time codes. */
export const totpOperations = (console: Console): Operation[] => [
  begin(console),
  confirm(console),
  replace(console),
  remove(console),
];

const begin = ({ service: { sql, clock, webhooks } }: Console): Operation =>
  operation({
    operationId: 'beginTotp',
    method: 'POST',
    path: '/v1/me/totp',
    tag,
    summary: 'Begin to set up one-time codes',
    description: `${description} They count after the first code was entered.`,
    success: { status: 201, description: 'The secret for the app.', schema: TotpSetup },
    errors: ['not_found', 'conflict', 'reauthentication_required'],
    async handle({ caller }) {
      const user = await requireUser(sql, caller);
      return json(201, await beginTotp(sql, webhooks.box, user, clock()));
    },
  });

const confirm = ({ service }: Console): Operation =>
  operation({
    operationId: 'confirmTotp',
    method: 'POST',
    path: '/v1/me/totp/confirm',
    tag,
    summary: 'Turn on one-time codes with a first code',
    description,
    body: TotpCode,
    success: { status: 200, description: 'The recovery codes, which are never shown again.', schema: RecoveryCodes },
    errors: ['invalid_request', 'not_found', 'rate_limited'],
    async handle({ caller, headers, body: { code } }) {
      const { sql, webhooks } = service;
      const { id } = await requireUser(sql, caller);
      const origin = originOf(service, headers, id);
      const recovery_codes = await confirmTotp(sql, webhooks.box, { user: id, code }, origin);
      if (recovery_codes === 'limited') throw tooManyCodes();
      if (recovery_codes === 'wrong')
        throw invalid([
          { field: 'code', message: 'This code is wrong. Compare the clock of your device, and enter the next one.' },
        ]);
      return json(200, { recovery_codes });
    },
  });

export const tooManyCodes = () =>
  new Refusal('rate_limited', 'Too many wrong codes in an hour: try again later.', undefined, {
    'retry-after': '3600',
  });

const replace = ({ service }: Console): Operation =>
  operation({
    operationId: 'replaceRecoveryCodes',
    method: 'POST',
    path: '/v1/me/totp/recovery-codes',
    tag,
    summary: 'Replace the recovery codes',
    description: `${description} The earlier ones no longer work.`,
    success: { status: 200, description: 'The recovery codes, which are never shown again.', schema: RecoveryCodes },
    errors: ['not_found', 'reauthentication_required'],
    async handle({ caller, headers }) {
      const { sql } = service;
      const { id } = await requireUser(sql, caller);
      if (!(await hasTotp(sql, id))) throw notFound('set-up of one-time codes');
      return json(200, { recovery_codes: await replaceRecoveryCodes(sql, id, originOf(service, headers, id)) });
    },
  });

const remove = ({ service }: Console): Operation =>
  operation({
    operationId: 'removeTotp',
    method: 'DELETE',
    path: '/v1/me/totp',
    tag,
    summary: 'Turn off one-time codes',
    description: `${description} The password alone signs in from now on.`,
    success: { status: 200, description: 'They are turned off.', schema: Deleted },
    errors: ['not_found', 'reauthentication_required'],
    async handle({ caller, headers }) {
      const { sql } = service;
      const { id } = await requireUser(sql, caller);
      await sql.begin((tx) => removeTotp(tx, id, originOf(service, headers, id)));
      return json(200, { deleted: true, id });
    },
  });
