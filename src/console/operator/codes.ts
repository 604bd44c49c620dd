import { type Static, Type as t } from '@sinclair/typebox';
import { readHost } from '../../../events/hosts.ts';
import { urlOfLink } from '../../../events/link.ts';
import { oneOf } from '../../../events/one-of.ts';
import type { Operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import { Deleted } from '../../api/http/schemas.ts';
import type { Service } from '../../api/service.ts';
import { block, unblock } from '../../codes/blocked-hosts.ts';
import { restore, takeDown } from '../../codes/takedown.ts';
import { invalid, notFound } from '../../lib/errors.ts';
import { type ListedCode as Found, findCodesOfAll, findListedCode } from '../../operator/codes.ts';
import { withSearchTimeout } from '../../operator/deadline.ts';
import { findHost, listHosts } from '../../operator/hosts.ts';
import { listQuery, operatorOperation, presentDisabled, Reason, reasonOf } from './define.ts';
import { BlockedHost, ListedCode, pageOf } from './schemas.ts';

const params = { id: 'Identifier of the code, `qr_…`.' };

/** Codes of all accounts, and the hosts that none of them may lead to. */
export const codeOperations = (service: Service): Operation[] => [
  find(service),
  takeDownOne(service),
  putBack(service),
  listBlocked(service),
  blockOne(service),
  unblockOne(service),
];

const presentCode = (code: Found, shortBaseUrl: string): Static<typeof ListedCode> => ({
  id: code.id,
  name: code.name,
  mode: code.mode,
  short_url: urlOfLink(code.short_code, shortBaseUrl),
  destination_url: code.destination_url,
  status: code.status,
  created_at: code.created_at.toISOString(),
  disabled: presentDisabled(code.disabled_reason, code.disabled_at),
  account: { id: code.account, name: code.account_name, is_suspended: code.account_suspended_at !== null },
});

const find = ({ sql, addresses: { shortBaseUrl } }: Service) =>
  operatorOperation({
    operationId: 'findAnyCodes',
    method: 'GET',
    path: '/v1/codes',
    summary:
      'Find codes of all accounts by short code, link, id, destination or name; without a search, those taken down',
    query: t.Object({ ...listQuery, everywhere: t.Optional(oneOf(['true'])) }),
    schema: pageOf(ListedCode),
    async handle({ query: { search = '', after, everywhere } }) {
      const listing = { search, after, everywhere: everywhere === 'true', shortBaseUrl };
      const { data, next } = await withSearchTimeout(sql, (tx) => findCodesOfAll(tx, listing));
      return json(200, { data: data.map((code) => presentCode(code, shortBaseUrl)), next });
    },
  });

async function answerWith({ sql, addresses: { shortBaseUrl } }: Service, id: string) {
  const code = await findListedCode(sql, id);
  if (code === undefined) throw notFound('QR code');
  return json(200, presentCode(code, shortBaseUrl));
}

const takeDownOne = (service: Service) =>
  operatorOperation({
    operationId: 'takeDownCode',
    method: 'POST',
    path: '/v1/codes/:id/takedown',
    summary: 'Take a code down: its short link answers 410, and its owner sees the reason',
    params,
    body: Reason,
    schema: ListedCode,
    async handle({ caller, params: { id = '' }, body }) {
      await service.onChange(await takeDown(service.sql, id, reasonOf(body), service.clock(), caller.actor));
      return answerWith(service, id);
    },
  });

const putBack = (service: Service) =>
  operatorOperation({
    operationId: 'putBackCode',
    method: 'DELETE',
    path: '/v1/codes/:id/takedown',
    summary: 'Undo the takedown of a code',
    params,
    schema: ListedCode,
    async handle({ caller, params: { id = '' } }) {
      await service.onChange(await restore(service.sql, id, service.clock(), caller.actor));
      return answerWith(service, id);
    },
  });

const listBlocked = ({ sql }: Service) =>
  operatorOperation({
    operationId: 'listBlockedHosts',
    method: 'GET',
    path: '/v1/hosts',
    summary: 'List the hosts that no code may lead to',
    query: t.Object(listQuery),
    schema: pageOf(BlockedHost),
    async handle({ query: { search, after } }) {
      return json(200, await listHosts(sql, { search: search?.trim(), after }));
    },
  });

const Host = t.Object(
  { host: t.String({ maxLength: 300, 'x-expected': 'a host such as example.com' }) },
  { additionalProperties: false },
);

function hostIn(text: string): string {
  const host = readHost(text);
  if (host === undefined)
    throw invalid([{ field: 'host', message: 'host must be a host such as example.com, without https://.' }]);
  return host;
}

const blockOne = ({ sql, clock, onChange }: Service) =>
  operatorOperation({
    operationId: 'blockHost',
    method: 'POST',
    path: '/v1/hosts',
    summary: 'Block a host and its subdomains, for new and existing codes',
    body: Host,
    schema: BlockedHost,
    status: 201,
    async handle({ caller, body }) {
      const host = hostIn(body.host);
      await onChange(await block(sql, host, clock(), caller.actor));
      return json(201, await findHost(sql, host));
    },
  });

const unblockOne = ({ sql, clock, onChange }: Service) =>
  operatorOperation({
    operationId: 'unblockHost',
    method: 'DELETE',
    path: '/v1/hosts/:host',
    summary: 'Unblock a host',
    params: { host: 'A host that is blocked.' },
    schema: Deleted,
    async handle({ caller, params: { host = '' } }) {
      const events = await unblock(sql, host, clock(), caller.actor);
      if (events.length === 0) throw notFound('blocked host');
      await onChange(events);
      return json(200, { deleted: true, id: host });
    },
  });
