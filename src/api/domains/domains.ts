import { type Static, Type as t } from '@sinclair/typebox';
import { admitted, type Caller, countInWindow } from '../../accounts/admission.ts';
import { change, claim, remove } from '../../domains/commands.ts';
import { type DomainDetails, findDomain, listDomains } from '../../domains/domains.ts';
import { readDomainName } from '../../domains/name.ts';
import { recordsOf } from '../../domains/records.ts';
import { invalid, notFound, Refusal } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { Deleted, pageOf, pageQuery } from '../http/schemas.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';
import { Domain, DomainChange, NewDomain } from './domain-schemas.ts';
import { readSettings } from './read-settings.ts';

const tag = 'Domains';
const params = { id: 'Identifier of the domain, `dom_…`.' };
/** Each check sends requests to servers of others. */
const checksPerMinute = 10;

/** Operations on the custom domains of the account. */
export const domainOperations = (service: Service): Operation[] => [
  addDomain(service),
  listOperation(service),
  getDomain(service),
  updateDomain(service),
  removeDomain(service),
  verifyDomain(service),
];

const proofRules =
  'The proof has two parts, `records` of the response: a TXT record with a token, which only the owner of the domain can set, and a record that leads the domain to this service. Both are checked every 10 minutes for 72 hours, or at once with `POST …/verify`; once they are there, the domain is `active`, and is checked every day.';

const addDomain = (service: Service): Operation =>
  operation({
    operationId: 'addDomain',
    method: 'POST',
    path: '/v1/domains',
    tag,
    summary: 'Add a domain',
    description: `Claims a domain for short links of the account. ${proofRules}\n\nSeveral accounts can claim a domain, and one can have it. A domain that another account has removed is locked for 30 days. The number of domains depends on the plan: 1 (Free), 3 (Pro), 10 (Business), 10,000 (Enterprise). Needs a live key.`,
    body: NewDomain,
    success: { status: 201, description: 'The domain, with the records that prove it.', schema: Domain },
    errors: ['invalid_request', 'live_key_required', 'quota_exceeded', 'domain_taken', 'conflict'],
    async handle({ caller, body }) {
      requireLiveKey(caller);
      const { sql, clock, addresses, onChange } = service;
      const read = readDomainName(body.name, addresses.ownHosts);
      if ('problem' in read) throw invalid([{ field: 'name', message: `name ${read.problem}.` }]);
      const { id, recorded } = await claim(sql, caller.account, read.name, { actor: caller.actor, now: clock() });
      await onChange(recorded);
      return json(201, present(service, await requireDomain(service, caller, id)));
    },
  });

const listOperation = (service: Service): Operation =>
  operation({
    operationId: 'listDomains',
    method: 'GET',
    path: '/v1/domains',
    tag,
    summary: 'List domains',
    description: 'The domains of the account, oldest first. Needs a live key.',
    query: t.Object(pageQuery({ default: 20, maximum: 100 })),
    success: { status: 200, description: 'One page of domains.', schema: pageOf(Domain) },
    errors: ['invalid_request', 'live_key_required'],
    async handle({ caller, query: { page = 1, limit = 20 } }) {
      requireLiveKey(caller);
      const { domains, total } = await listDomains(service.sql, caller.account, { page, limit });
      const items = domains.map((domain) => present(service, domain));
      return json(200, presentPage(items, { page, limit }, total));
    },
  });

const getDomain = (service: Service): Operation =>
  operation({
    operationId: 'getDomain',
    method: 'GET',
    path: '/v1/domains/:id',
    tag,
    summary: 'Get a domain',
    description: `The domain, with the result of the last check. ${proofRules} Needs a live key.`,
    params,
    success: { status: 200, description: 'The domain.', schema: Domain },
    errors: ['live_key_required', 'not_found'],
    async handle({ caller, params: { id = '' } }) {
      return json(200, present(service, await requireDomain(service, caller, id)));
    },
  });

const updateDomain = (service: Service): Operation =>
  operation({
    operationId: 'updateDomain',
    method: 'PATCH',
    path: '/v1/domains/:id',
    tag,
    summary: 'Change the settings of a domain',
    description:
      'Changes only the fields given. URLs follow the rules of `destination_url`, and must not lead to the domain itself. An account has one primary domain at most: `primary: true` takes it from another one. Needs a live key.',
    params,
    body: DomainChange,
    success: { status: 200, description: 'The domain.', schema: Domain },
    errors: ['invalid_request', 'destination_blocked', 'live_key_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' }, body }) {
      const { sql, clock, onChange } = service;
      const settings = await readSettings(service, await requireDomain(service, caller, id), body);
      await onChange(await change(sql, caller.account, id, settings, { actor: caller.actor, now: clock() }));
      return json(200, present(service, await requireDomain(service, caller, id)));
    },
  });

const removeDomain = (service: Service): Operation =>
  operation({
    operationId: 'removeDomain',
    method: 'DELETE',
    path: '/v1/domains/:id',
    tag,
    summary: 'Remove a domain',
    description:
      'Links of the domain answer 404 from now on. Its codes stay, and work again when the account adds and proves the domain again. For 30 days no other account can add a domain that was verified. Needs a live key.',
    params,
    success: { status: 200, description: 'The domain is removed.', schema: Deleted },
    errors: ['live_key_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      requireLiveKey(caller);
      const { sql, clock, onChange } = service;
      await onChange(await remove(sql, caller.account, id, { actor: caller.actor, now: clock() }));
      return json(200, { deleted: true, id });
    },
  });

const verifyDomain = (service: Service): Operation =>
  operation({
    operationId: 'verifyDomain',
    method: 'POST',
    path: '/v1/domains/:id/verify',
    tag,
    summary: 'Check a domain now',
    description: `Checks the proof now, which can take 10 s, and answers with the domain: \`status\` and \`problems\` have the result. ${checksPerMinute} checks a minute for each account. Answers 409 \`domain_taken\` if the proof is complete, but another account has the domain and still proves that. Needs a live key.`,
    params,
    success: { status: 200, description: 'The domain after the check.', schema: Domain },
    errors: ['live_key_required', 'not_found', 'domain_taken', 'conflict'],
    answerWithinMs: timeouts.domainCheckMs + 10_000,
    async handle({ caller, params: { id = '' } }) {
      const domain = await requireDomain(service, caller, id);
      const { sql, domains } = service;
      const window = await countInWindow(sql, `${caller.account}/domain-checks`);
      const { refusal } = admitted(checksPerMinute, window, caller, undefined, 'checks of domains');
      if (refusal !== undefined) throw refusal;
      await domains.check(domain, caller.actor);
      return json(200, present(service, await requireDomain(service, caller, id)));
    },
  });

/** The domain of a code is in printed images, so a test key cannot do anything about domains. */
function requireLiveKey({ mode }: Caller): void {
  if (mode !== 'live') throw new Refusal('live_key_required', 'Domains are for live codes: use a live key.');
}

async function requireDomain({ sql }: Service, caller: Caller, id: string): Promise<DomainDetails> {
  requireLiveKey(caller);
  const domain = await findDomain(sql, caller.account, id);
  if (domain === undefined) throw notFound('domain');
  return domain;
}

function present({ addresses }: Service, domain: DomainDetails): Static<typeof Domain> {
  const { id, name, status, root_url, not_found_url, expired_url, app_links, primary, codes, problems } = domain;
  return {
    id,
    name,
    // A removed domain is not found.
    status: status as Static<typeof Domain>['status'],
    records: recordsOf(domain, addresses.domainTarget),
    root_url,
    not_found_url,
    expired_url,
    app_links: app_links as Static<typeof Domain>['app_links'],
    primary,
    codes,
    problems,
    created_at: domain.created_at.toISOString(),
    checked_at: domain.checked_at?.toISOString() ?? null,
  };
}
