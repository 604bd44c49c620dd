import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { type Operation, operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import { Deleted } from '../../api/http/schemas.ts';
import { invalid, notFound } from '../../lib/errors.ts';
import { addPasskey, registrationOptions, removePasskey, renamePasskey } from '../../people/passkeys.ts';
import type { Console } from '../context.ts';
import { describeDevice } from '../device-name.ts';
import { NewPasskey, OwnPasskey, PasskeyName, PasskeyOptions } from './credential-schemas.ts';
import { presentPasskey, requireUser } from './me.ts';
import { originOf } from './origin.ts';
import { requireSite } from './passkey-sign-in.ts';

const tag = 'Account';
const description = 'For the console only, and only for people.';

/** Operations of people on their passkeys. */
export const passkeyOperations = (console: Console): Operation[] => [
  begin(console),
  add(console),
  rename(console),
  remove(console),
];

const begin = (console: Console): Operation =>
  operation({
    operationId: 'beginPasskey',
    method: 'POST',
    path: '/v1/me/passkeys/options',
    tag,
    summary: 'Begin to add a passkey',
    description,
    success: { status: 200, description: 'What the browser makes a passkey with.', schema: PasskeyOptions },
    errors: ['not_found', 'conflict', 'reauthentication_required'],
    async handle({ caller }) {
      const { sql } = console.service;
      const user = await requireUser(sql, caller);
      const options = await registrationOptions(sql, requireSite(console), user);
      const step = console.steps.begin('registration', { user: user.id, challenge: options.challenge });
      return json(200, { step, options });
    },
  });

const add = (console: Console): Operation =>
  operation({
    operationId: 'addPasskey',
    method: 'POST',
    path: '/v1/me/passkeys',
    tag,
    summary: 'Add the passkey that the browser made',
    description: `${description} Without \`name\`, it is named after the device.`,
    body: NewPasskey,
    success: { status: 201, description: 'The passkey.', schema: OwnPasskey },
    errors: ['invalid_request', 'not_found', 'conflict'],
    async handle({ caller, headers, body: { step, name, response } }) {
      const { sql } = console.service;
      const { id: user } = await requireUser(sql, caller);
      const begun = console.steps.read('registration', step);
      if (begun?.user !== user || !(await console.steps.complete(step))) throw expired();
      const { device, browser } = describeDevice(headers.get('user-agent') ?? '');
      const made = { user, challenge: begun.challenge, name: name ?? `${browser} on ${device}` };
      // The browser names transports that our library may not know yet.
      const added = await addPasskey(
        sql,
        requireSite(console),
        { ...made, response: response as RegistrationResponseJSON },
        originOf(console.service, headers, user),
      );
      if (added === undefined) throw expired();
      return json(201, presentPasskey(added));
    },
  });

const expired = () =>
  invalid([{ field: 'response', message: 'This passkey is not valid, or it took too long: add it again.' }]);

const rename = ({ service: { sql } }: Console): Operation =>
  operation({
    operationId: 'renamePasskey',
    method: 'PATCH',
    path: '/v1/me/passkeys/:id',
    tag,
    summary: 'Rename a passkey',
    description,
    params: { id: 'Identifier of the passkey, `pk_…`.' },
    body: PasskeyName,
    success: { status: 200, description: 'The passkey.', schema: OwnPasskey },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id = '' }, body: { name } }) {
      const user = await requireUser(sql, caller);
      const renamed = await renamePasskey(sql, { user: user.id, id, name });
      if (renamed === undefined) throw notFound('passkey');
      return json(200, presentPasskey(renamed));
    },
  });

const remove = ({ service }: Console): Operation =>
  operation({
    operationId: 'removePasskey',
    method: 'DELETE',
    path: '/v1/me/passkeys/:id',
    tag,
    summary: 'Remove a passkey',
    description: `${description} The only way to sign in cannot be removed.`,
    params: { id: 'Identifier of the passkey, `pk_…`.' },
    success: { status: 200, description: 'The passkey is removed.', schema: Deleted },
    errors: ['not_found', 'conflict', 'reauthentication_required'],
    async handle({ caller, headers, params: { id = '' } }) {
      const { sql } = service;
      const { id: user } = await requireUser(sql, caller);
      if (!(await removePasskey(sql, { user, id }, originOf(service, headers, user)))) throw notFound('passkey');
      return json(200, { deleted: true, id });
    },
  });
