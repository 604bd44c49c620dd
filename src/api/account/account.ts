import type { Static } from '@sinclair/typebox';
import { timezoneOf } from '../../../events/account.ts';
import { limitsOf } from '../../../events/plans.ts';
import { timeZoneNamed, timeZoneProblem } from '../../../events/targeting/local-time.ts';
import { findAccount, setGuestPage, setTimezone } from '../../accounts/accounts.ts';
import type { Caller } from '../../accounts/admission.ts';
import { countCodes, totalOf } from '../../codes/codes.ts';
import { countGivenShortCodes, givenShortCodesOf } from '../../codes/quota.ts';
import { countDomains } from '../../domains/domains.ts';
import { invalid, notFound, Refusal } from '../../lib/errors.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { Account, AccountChange } from './account-schemas.ts';
import { keyOperations } from './keys.ts';
import { memberOperations } from './members.ts';
import { revertOperation } from './revert.ts';

const tag = 'Account';

/** Operations on the account and its keys. */
export const accountOperations = (service: Service): Operation[] => [
  getAccount(service),
  updateAccount(service),
  ...keyOperations(service),
  ...memberOperations(service),
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
      const by = { actor: caller.actor, now: service.clock() };
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
  const [account, live, test, given, domains] = await Promise.all([
    findAccount(sql, id),
    // A test key reads nothing about live codes.
    mode === 'live' ? countCodes(sql, { account: id, mode }).then(totalOf) : null,
    countCodes(sql, { account: id, mode: 'test' }).then(totalOf),
    countGivenShortCodes(sql, { account: id, mode }, clock()),
    countDomains(sql, id),
  ]);
  if (account === undefined) throw notFound('account');
  const limits = limitsOf[account.plan];
  const response: Static<typeof Account> = {
    id,
    name: account.name,
    plan: account.plan,
    mode,
    limits: {
      requests_per_minute: limits.requestsPerMinute,
      qr_codes: Number.isFinite(limits.codes) ? limits.codes : null,
      given_short_codes: givenShortCodesOf(account.plan, service.limits),
      domains: limits.domains,
    },
    usage: { qr_codes: live, test_qr_codes: test, given_short_codes: given, domains, requests: rate.used },
    timezone: timezoneOf(account),
    guest_page: account.guest_page,
    created_at: account.created_at.toISOString(),
  };
  return response;
}
