import { type Static, Type as t } from '@sinclair/typebox';
import { timezoneOf } from '../../../events/account.ts';
import { problemWithName } from '../../../events/fields.ts';
import { oneOf } from '../../../events/one-of.ts';
import { limitsOf } from '../../../events/plans.ts';
import { timeZoneNamed, timeZoneProblem } from '../../../events/targeting/local-time.ts';
import {
  createKey,
  findAccount,
  type ListedKey,
  listKeys,
  managedModes,
  revoke,
  setGuestPage,
  setTimezone,
} from '../../accounts/accounts.ts';
import type { Caller } from '../../accounts/admission.ts';
import { countCodes, totalOf } from '../../codes/codes.ts';
import { countGivenShortCodes, givenShortCodesOf } from '../../codes/quota.ts';
import { invalid, notFound, Refusal } from '../../lib/errors.ts';
import { json } from '../http/answers.ts';
import { type Operation, operation } from '../http/operation.ts';
import { Deleted } from '../http/schemas.ts';
import type { Service } from '../service.ts';
import { Account, AccountChange, ApiKey, CreatedApiKey, NewApiKey } from './account-schemas.ts';
import { revertOperation } from './revert.ts';

const tag = 'Account';

/** Operations on the account and its keys. */
export const accountOperations = (service: Service): Operation[] => [
  getAccount(service),
  updateAccount(service),
  listAccountKeys(service),
  createAccountKey(service),
  revokeAccountKey(service),
  revertOperation(service),
];

const getAccount = (service: Service): Operation =>
  operation({
    operationId: 'getAccount',
    method: 'GET',
    path: '/v1/account',
    tag,
    summary: 'Get plan, limits and usage',
    description: 'The account that the API key belongs to, with the limits of its plan and its current usage.',
    success: { status: 200, description: 'The account.', schema: Account },
    errors: [],
    async handle({ caller, rate }) {
      return json(200, await presentAccount(service, caller, rate));
    },
  });

const updateAccount = (service: Service): Operation =>
  operation({
    operationId: 'updateAccount',
    method: 'PATCH',
    path: '/v1/account',
    tag,
    summary: 'Change the account',
    description:
      '`timezone` is the time zone that rules take if they name none when they are saved, and that the console shows. Rules that exist keep theirs, so that opening hours in print do not move. Analytics of the API stay in UTC unless a read names a `timezone`. `guest_page` puts the name and a logo of the account on pages that guests see instead of a destination, within 5 s. Needs a live key.',
    body: AccountChange,
    success: { status: 200, description: 'The account after the change.', schema: Account },
    errors: ['invalid_request', 'live_key_required', 'conflict'],
    async handle({ caller, rate, body }) {
      const timezone = body.timezone === undefined ? undefined : timeZoneNamed(body.timezone);
      if (body.timezone !== undefined && timezone === undefined)
        throw invalid([{ field: 'timezone', message: `timezone ${timeZoneProblem}.` }]);
      if (caller.mode !== 'live')
        throw new Refusal('live_key_required', 'These settings apply to live codes too: set them with a live key.');
      const by = { actor: caller.key, now: service.clock() };
      // First, because it can be refused.
      if (body.guest_page !== undefined) {
        const guestPage = body.guest_page && { logo: body.guest_page.logo ?? null };
        await setGuestPage(service.sql, caller.account, guestPage, by);
      }
      if (timezone !== undefined) await setTimezone(service.sql, caller.account, timezone, by);
      return json(200, await presentAccount(service, caller, rate));
    },
  });

async function presentAccount(service: Service, { account: id, mode }: Caller, rate: { used: number }) {
  const { sql, clock } = service;
  const [account, live, test, given] = await Promise.all([
    findAccount(sql, id),
    // A test key reads nothing about live codes.
    mode === 'live' ? countCodes(sql, { account: id, mode }).then(totalOf) : null,
    countCodes(sql, { account: id, mode: 'test' }).then(totalOf),
    countGivenShortCodes(sql, { account: id, mode }, clock()),
  ]);
  if (account === undefined) throw notFound('account');
  const limits = limitsOf[account.plan];
  const answer: Static<typeof Account> = {
    id,
    name: account.name,
    plan: account.plan,
    mode,
    limits: {
      requests_per_minute: limits.requestsPerMinute,
      qr_codes: Number.isFinite(limits.codes) ? limits.codes : null,
      given_short_codes: givenShortCodesOf(account.plan, service.limits),
    },
    usage: { qr_codes: live, test_qr_codes: test, given_short_codes: given, requests: rate.used },
    timezone: timezoneOf(account),
    guest_page: account.guest_page,
    created_at: account.created_at.toISOString(),
  };
  return answer;
}

const listAccountKeys = ({ sql }: Service): Operation =>
  operation({
    operationId: 'listKeys',
    method: 'GET',
    path: '/v1/account/keys',
    tag,
    summary: 'List API keys',
    description:
      'Keys that are not revoked, oldest first; with `include=revoked` the revoked ones, too, to tell who made a change. A live key lists the keys of both modes, a test key only test keys. Secrets are not included.',
    query: t.Object({
      include: t.Optional(oneOf(['revoked'], { description: 'Also keys that are revoked, with `revoked_at`.' })),
    }),
    success: {
      status: 200,
      description: 'The keys that this key may manage.',
      schema: t.Object({ data: t.Array(ApiKey) }, { additionalProperties: false }),
    },
    errors: [],
    async handle({ caller, query: { include } }) {
      const withRevoked = include === 'revoked';
      const keys = await listKeys(sql, caller.account, managedModes(caller.mode), { withRevoked });
      return json(200, { data: keys.map(presentKey) });
    },
  });

const createAccountKey = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'createKey',
    method: 'POST',
    path: '/v1/account/keys',
    tag,
    summary: 'Create an API key',
    description:
      'Only this response contains the secret: the service stores only its SHA-256. Only a live key can create a live key.',
    body: NewApiKey,
    success: { status: 201, description: 'The new key, with its secret.', schema: CreatedApiKey },
    errors: ['invalid_request', 'live_key_required', 'conflict'],
    async handle({ caller, body: { name, mode = caller.mode } }) {
      const problem = problemWithName(name);
      if (problem !== undefined) throw invalid([{ field: 'name', message: `name ${problem}.` }]);
      if (!managedModes(caller.mode).includes(mode)) throw liveKeyRequired();
      const now = clock();
      const { id, secret } = await createKey(sql, caller.account, {
        name: name.trim(),
        mode,
        actor: caller.key,
        now,
      });
      const answer: Static<typeof CreatedApiKey> = {
        id,
        name: name.trim(),
        mode,
        prefix: `sk_${mode}_`,
        last4: secret.slice(-4),
        created_at: now.toISOString(),
        last_used_at: null,
        key: secret,
      };
      return json(201, answer);
    },
  });

const revokeAccountKey = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'revokeKey',
    method: 'DELETE',
    path: '/v1/account/keys/:id',
    tag,
    summary: 'Revoke an API key',
    description:
      'The key stops working at once on every instance. A key cannot revoke itself. A test key gets 404 for a live key.',
    params: { id: 'Identifier of the key, `key_…`.' },
    success: { status: 200, description: 'The key is revoked.', schema: Deleted },
    errors: ['invalid_request', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      await revoke(sql, caller.account, id, { actor: caller.key, now: clock() }, managedModes(caller.mode));
      return json(200, { deleted: true, id });
    },
  });

const liveKeyRequired = () =>
  new Refusal(
    'live_key_required',
    'A test key can manage only test keys: create a live key with another live key, or in the console signed in with a live key.',
  );

const presentKey = ({
  id,
  name,
  mode,
  last4,
  created_at,
  last_used_at,
  revoked_at,
}: ListedKey): Static<typeof ApiKey> => ({
  id,
  name,
  mode,
  prefix: `sk_${mode}_`,
  last4,
  created_at: created_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
  ...(revoked_at === null ? {} : { revoked_at: revoked_at.toISOString() }),
});
