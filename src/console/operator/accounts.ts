import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { limitsOf, modes, plans } from '../../../events/plans.ts';
import { resume, setPlan, suspend } from '../../accounts/accounts.ts';
import { deleteAccount } from '../../accounts/delete.ts';
import { listKeys } from '../../accounts/keys.ts';
import { readTotals } from '../../analytics/figures.ts';
import { AuditEvent } from '../../api/account/event-schemas.ts';
import { scansOfAccount } from '../../api/analytics/account.ts';
import { periodOf } from '../../api/analytics/period.ts';
import { readWarehouse } from '../../api/analytics/reading.ts';
import type { Operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import { Deleted, pageOf as numberedPageOf, pageQuery } from '../../api/http/schemas.ts';
import { presentPage } from '../../api/qrcodes/present.ts';
import type { Service } from '../../api/service.ts';
import { auditTypes, listAudit } from '../../feed/audit.ts';
import { presentEvent } from '../../feed/frame.ts';
import { invalid, notFound } from '../../lib/errors.ts';
import type { Queryable } from '../../lib/sql.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { type ListedAccount as Found, findListedAccount, listAllAccounts } from '../../operator/accounts.ts';
import { withSearchTimeout } from '../../operator/deadline.ts';
import { listMembers } from '../../people/members.ts';
import { isoOf, listQuery, operatorOperation, presentDisabled, Reason, reasonOf } from './define.ts';
import { AccountScans, AnyAccount, ListedAccount, pageOf } from './schemas.ts';

const params = { id: 'Identifier of the account, `acct_…`.' };

/** Accounts: list, search, plan, suspension and deletion. */
export const accountOperations = (service: Service): Operation[] => [
  list(service),
  read(service),
  readScans(service),
  listAccountAudit(service),
  changePlan(service),
  suspendOne(service),
  resumeOne(service),
  deleteOne(service),
];

const presentAccount = (account: Found): Static<typeof ListedAccount> => ({
  id: account.id,
  name: account.name,
  plan: account.plan,
  created_at: account.created_at.toISOString(),
  suspended: presentDisabled(account.suspended_reason, account.suspended_at),
  live_codes: account.live_codes,
  test_codes: account.test_codes,
  members: account.members,
  domains: account.domains,
});

async function requireAccount(sql: Queryable, id: string): Promise<Found> {
  const account = await findListedAccount(sql, id);
  if (account === undefined) throw notFound('account');
  return account;
}

const list = ({ sql }: Service) =>
  operatorOperation({
    operationId: 'listAllAccounts',
    method: 'GET',
    path: '/v1/accounts',
    summary: 'List accounts, newest first, by id, name or address of a member',
    query: t.Object({ ...listQuery, suspended: t.Optional(oneOf(['true'])) }),
    schema: pageOf(ListedAccount),
    async handle({ query: { search, after, suspended } }) {
      const listing = { search: search?.trim(), after, isSuspended: suspended === 'true' };
      const { data, next } = await withSearchTimeout(sql, (tx) => listAllAccounts(tx, listing));
      return json(200, { data: data.map(presentAccount), next });
    },
  });

const read = ({ sql }: Service) =>
  operatorOperation({
    operationId: 'readAnyAccount',
    method: 'GET',
    path: '/v1/accounts/:id',
    summary: 'Read an account with its members and keys',
    params,
    schema: AnyAccount,
    async handle({ params: { id = '' } }) {
      const account = await requireAccount(sql, id);
      const [members, keys] = await Promise.all([listMembers(sql, id), listKeys(sql, id)]);
      const { codes, domains, requestsPerMinute } = limitsOf[account.plan];
      const response: Static<typeof AnyAccount> = {
        account: presentAccount(account),
        limits: {
          qr_codes: Number.isFinite(codes) ? codes : null,
          domains,
          requests_per_minute: requestsPerMinute,
        },
        members: members.map((member) => ({
          id: member.user_id,
          name: member.name,
          email: member.email,
          role: member.role,
          joined_at: member.joined_at.toISOString(),
          last_signed_in_at: isoOf(member.last_signed_in_at),
          is_disabled: member.disabled_at !== null,
        })),
        keys: keys.map((key) => ({
          id: key.id,
          name: key.name,
          mode: key.mode,
          last4: key.last4,
          created_at: key.created_at.toISOString(),
          last_used_at: isoOf(key.last_used_at),
          unused: key.unused,
          expires_at: isoOf(key.expires_at),
        })),
      };
      return json(200, response);
    },
  });

const days = 30;

const readScans = (service: Service) =>
  operatorOperation({
    operationId: 'readScansOfAnyAccount',
    method: 'GET',
    path: '/v1/accounts/:id/scans',
    summary: 'Count the scans of an account in 30 days',
    params,
    schema: AccountScans,
    answerWithinMs: timeouts.analyticsReadMs + 2_000,
    async handle({ params: { id = '' } }) {
      await requireAccount(service.sql, id);
      const owner = { account: id, mode: 'live' } as const;
      const period = periodOf({}, service.clock());
      const { found } = await readWarehouse(service, owner, async (reading, table) =>
        readTotals(reading, await scansOfAccount(service, owner, table, { codes: undefined, period, query: {} })),
      );
      return json(200, { scans: found.scans, days } satisfies Static<typeof AccountScans>);
    },
  });

const listAccountAudit = ({ sql }: Service) =>
  operatorOperation({
    operationId: 'listAuditOfAnyAccount',
    method: 'GET',
    path: '/v1/accounts/:id/audit',
    summary: 'Read the audit log of an account',
    params,
    query: t.Object(pageQuery({ default: 50, maximum: 50 })),
    schema: numberedPageOf(AuditEvent),
    async handle({ params: { id = '' }, query: { page = 1, limit = 50 } }) {
      await requireAccount(sql, id);
      const selection = { account: id, modes, types: auditTypes, actor: undefined, from: undefined, to: undefined };
      const { events, total } = await listAudit(sql, selection, { page, limit });
      return json(200, presentPage(events.map(presentEvent), { page, limit }, total));
    },
  });

const changePlan = ({ sql, clock, onChange }: Service) =>
  operatorOperation({
    operationId: 'setPlanOfAccount',
    method: 'PATCH',
    path: '/v1/accounts/:id',
    summary: 'Change the plan of an account',
    params,
    body: t.Object({ plan: oneOf(plans) }, { additionalProperties: false }),
    schema: ListedAccount,
    async handle({ caller, params: { id = '' }, body: { plan } }) {
      await onChange(await setPlan(sql, id, plan, clock(), caller.actor));
      return json(200, presentAccount(await requireAccount(sql, id)));
    },
  });

const suspendOne = ({ sql, clock, onChange }: Service) =>
  operatorOperation({
    operationId: 'suspendAccount',
    method: 'POST',
    path: '/v1/accounts/:id/suspension',
    summary: 'Suspend an account: its API, console and short links',
    params,
    body: Reason,
    schema: ListedAccount,
    async handle({ caller, params: { id = '' }, body }) {
      await onChange(await suspend(sql, id, reasonOf(body), clock(), caller.actor));
      return json(200, presentAccount(await requireAccount(sql, id)));
    },
  });

const resumeOne = ({ sql, clock, onChange }: Service) =>
  operatorOperation({
    operationId: 'resumeAccount',
    method: 'DELETE',
    path: '/v1/accounts/:id/suspension',
    summary: 'End the suspension of an account',
    params,
    schema: ListedAccount,
    async handle({ caller, params: { id = '' } }) {
      await onChange(await resume(sql, id, clock(), caller.actor));
      return json(200, presentAccount(await requireAccount(sql, id)));
    },
  });

const deleteOne = ({ sql, clock, onChange }: Service) =>
  operatorOperation({
    operationId: 'deleteAnyAccount',
    method: 'POST',
    path: '/v1/accounts/:id/deletion',
    summary: 'Delete an account for good; the service then erases its data',
    params,
    body: t.Object(
      { confirm: t.String({ maxLength: 100, 'x-expected': 'the id of the account' }) },
      { additionalProperties: false },
    ),
    schema: Deleted,
    async handle({ caller, params: { id = '' }, body: { confirm } }) {
      if (confirm !== id)
        throw invalid([{ field: 'confirm', message: 'confirm must be the id of the account to delete.' }]);
      await onChange(await deleteAccount(sql, id, clock(), caller.actor));
      return json(200, { deleted: true, id });
    },
  });
