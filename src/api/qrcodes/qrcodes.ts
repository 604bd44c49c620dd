import { type Static, Type as t } from '@sinclair/typebox';
import type { CodeChange } from '../../../events/code.ts';
import { problemWithDestination, problemWithName } from '../../../events/fields.ts';
import { oneOf } from '../../../events/one-of.ts';
import type { Owner } from '../../../events/owner.ts';
import { problemWithPassword } from '../../../events/password.ts';
import { readFields } from '../../../events/read-fields.ts';
import { availabilities } from '../../../events/targeting/targeting.ts';
import { blockOf, refuseBlocked, urlsOf } from '../../codes/blocked-hosts.ts';
import { change, remove } from '../../codes/change.ts';
import {
  codeFinder,
  codeNotFound,
  type FoundCode,
  type ListItem,
  type Listing,
  listCodes,
  listCodesAfter,
  listedStatuses,
} from '../../codes/codes.ts';
import { type ListPosition, listOrders } from '../../codes/list-order.ts';
import { searchOf } from '../../codes/search.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import { type Operation, operation } from '../http/operation.ts';
import { etagHeader, etagOfVersion, ifMatchHeader, versionCheckOf } from '../http/preconditions.ts';
import { json } from '../http/responses.ts';
import { Deleted, listOf, pageQuery } from '../http/schemas.ts';
import type { Service } from '../service.ts';
import { asOfQuery, listPast, presentPast, readAsOf, readPast } from './as-of.ts';
import { passwordChangeOf } from './code-passwords.ts';
import { domainIn, domainQuery } from './domain-query.ts';
import { listHistory } from './history.ts';
import { afterQuery, listCursors } from './list-cursors.ts';
import { presentCode, presentListed, presentPage, presentRead } from './present.ts';
import { QrCodeChange } from './qrcode-requests.ts';
import { ListedQrCode, PastListedQrCode, PastQrCode, QrCode } from './qrcode-schemas.ts';
import { restoreQrCode } from './restore.ts';
import { tagFilterOf, tagQuery } from './targeting-schemas.ts';

const tag = 'QR codes';
const params = { id: 'Identifier of the code, `qr_…`.' };

/** Operations that read, change and delete codes. */
export function qrcodeOperations(service: Service): Operation[] {
  const find = codeFinder(service.sql);
  const requireCode: RequireCode = async (owner, id = '') => {
    const code = await find(owner, id);
    if (code === undefined) throw await codeNotFound(service.sql, owner, id);
    return code;
  };
  return [
    listQrCodes(service),
    getQrCode(service, requireCode),
    updateQrCode(service),
    deleteQrCode(service),
    restoreQrCode(service),
    listHistory(service, requireCode),
  ];
}

/** Finds a code, or throws 404. */
type RequireCode = (owner: Owner, id: string | undefined) => Promise<FoundCode>;

const listQrCodes = (service: Service): Operation => {
  const { addresses, clock, sql } = service;
  const cursors = listCursors(sql);
  return operation({
    operationId: 'listQrCodes',
    method: 'GET',
    path: '/v1/qrcodes',
    tag,
    summary: 'List QR codes',
    description:
      'Codes of the mode of the key, newest first unless `sort` is given. With `as_of`, all filters are about the state of that time; codes that were deleted since are not listed, and `sort` cannot be by scans. To read the whole list, send `next` of each response as `after` of the next request, until it is null: codes that are created or deleted meanwhile neither repeat nor hide others. Sorted by scans, codes that are scanned meanwhile can.',
    query: t.Object({
      ...pageQuery({ default: 20, maximum: 100 }),
      ...afterQuery,
      status: t.Optional(oneOf(listedStatuses, { description: 'Only codes with this status.' })),
      q: t.Optional(
        t.String({
          minLength: 1,
          maxLength: 255,
          pattern: '^[^\\u0000]*$',
          description:
            'Only codes with this text in their name, destination, short code or note, ignoring case; or the code with this id or short link.',
          'x-expected': 'a text of 1 to 255 characters',
        }),
      ),
      short_code: t.Optional(
        t.String({
          minLength: 1,
          maxLength: 255,
          pattern: '^[^\\u0000]*$',
          description: 'Only codes with exactly this short code: there can be one on each domain of the account.',
          'x-expected': 'a short code',
        }),
      ),
      availability: t.Optional(oneOf(availabilities, { description: 'Only codes with this availability now.' })),
      ...tagQuery,
      ...domainQuery,
      ...asOfQuery('The codes as they were at this time.'),
      sort: t.Optional(
        oneOf(listOrders, {
          default: '-created_at',
          description:
            'Order of the list; a leading `-` means descending (newest or most scans first). Names are sorted as people count: "Table 2" before "Table 10"; destinations by their bytes; a status by its name. Ties: newest first.',
        }),
      ),
    }),
    success: {
      status: 200,
      description: 'One page of codes.',
      schema: t.Union([listOf(ListedQrCode), listOf(PastListedQrCode)]),
    },
    errors: ['invalid_request'],
    async handle({ caller, query }) {
      const { page = 1, limit = 20, status, q, short_code, availability, sort, as_of } = query;
      const now = clock();
      const asOf = readAsOf(as_of, now);
      const listing: Listing = {
        page,
        limit,
        status,
        shortCode: short_code,
        domain: domainIn(query),
        order: sort,
        search: q === undefined ? undefined : searchOf(q, addresses.shortBaseUrl),
        availability: availability === undefined ? undefined : { wanted: availability, now },
        tags: tagFilterOf(query),
      };
      const list = { owner: caller, listing, asOf };
      const after = query.after === undefined ? undefined : await cursors.open(list, query.after);
      const { next, ...body } =
        asOf === undefined
          ? await listPresent(service, caller, listing, after)
          : await listPast(service, caller, asOf, listing, after);
      return json(200, { ...body, next: await cursors.seal(list, next) });
    },
  });
};

async function listPresent({ sql, addresses }: Service, owner: Owner, listing: Listing, after?: ListPosition) {
  const present = (codes: ListItem[]) => codes.map((code) => presentListed(code, addresses));
  if (after !== undefined) {
    const { codes, next } = await listCodesAfter(sql, owner, after, listing);
    return { data: present(codes), next };
  }
  const { codes, next, total } = await listCodes(sql, owner, listing);
  return { ...presentPage(present(codes), listing, total), next };
}

const getQrCode = (service: Service, requireCode: RequireCode): Operation =>
  operation({
    operationId: 'getQrCode',
    method: 'GET',
    path: '/v1/qrcodes/:id',
    tag,
    summary: 'Get a QR code',
    description:
      'One code with its current destination, state, style and scan counts. A key finds only codes of its own account and mode; a deleted code is not found. With `as_of`, the code as this read returned it then, scan counts and `availability` included; the `ETag` is of that version. A code that was deleted since is not found, and neither is one that did not exist yet.',
    params,
    query: t.Object(asOfQuery('The code as it was at this time.')),
    success: {
      status: 200,
      description: 'The code.',
      schema: t.Union([QrCode, PastQrCode]),
      headers: etagHeader,
    },
    errors: ['not_found'],
    async handle({ caller, params: { id }, query: { as_of } }) {
      const { sql, addresses, clock } = service;
      const asOf = readAsOf(as_of, clock());
      const code = await requireCode(caller, id);
      if (asOf !== undefined) {
        const past = await readPast(service, code, asOf);
        return json(200, await presentPast(service, past, asOf), { etag: etagOfVersion(past.code.version) });
      }
      const block = code.any_host_blocked ? await blockOf(sql, code.destination_url) : undefined;
      return json(200, presentRead(code, addresses, { now: clock(), block }), { etag: etagOfVersion(code.version) });
    },
  });

const updateQrCode = (service: Service): Operation => {
  const { sql, clock, addresses, onChange } = service;
  return operation({
    operationId: 'updateQrCode',
    method: 'PATCH',
    path: '/v1/qrcodes/:id',
    tag,
    summary: 'Update a QR code',
    description:
      'Send only the fields to change. A request that changes nothing succeeds and does not change `updated_at`. The style and the short code cannot be changed, since the image may already be printed. `If-Match` makes sure that no change by someone else is overwritten.',
    params,
    headers: ifMatchHeader,
    body: QrCodeChange,
    success: { status: 200, description: 'The code after the update.', schema: QrCode, headers: etagHeader },
    errors: ['invalid_request', 'destination_blocked', 'not_found', 'conflict', 'version_mismatch'],
    async handle({ caller, params: { id = '' }, body, headers }) {
      const checkVersion = versionCheckOf(headers);
      const changes = readChange(body, addresses.ownUrls);
      await refuseBlocked(sql, urlsOf(changes));
      const now = clock();
      const password = await passwordChangeOf(sql, id, body.password);
      const by = { actor: caller.actor, now, checkVersion, password };
      const { code, events } = await change(sql, caller, id, changes, by);
      await onChange(events);
      const block = await blockOf(sql, code.destination_url);
      return json(200, presentCode(code, addresses, { now, block }), { etag: etagOfVersion(code.version) });
    },
  });
};

const deleteQrCode = ({ sql, clock, onChange }: Service): Operation =>
  operation({
    operationId: 'deleteQrCode',
    method: 'DELETE',
    path: '/v1/qrcodes/:id',
    tag,
    summary: 'Delete a QR code',
    description:
      'Permanent and irreversible: the short link stops working at once, and its short code is never assigned to another code.',
    params,
    headers: ifMatchHeader,
    success: { status: 200, description: 'The code is deleted.', schema: Deleted },
    errors: ['not_found', 'conflict', 'version_mismatch'],
    async handle({ caller, params: { id = '' }, headers }) {
      const checkVersion = versionCheckOf(headers);
      const { events } = await remove(sql, caller, id, { actor: caller.actor, now: clock(), checkVersion });
      await onChange(events);
      return json(200, { deleted: true, id });
    },
  });

/** Validates a change; throws 400 with every error in it. */
function readChange(body: Static<typeof QrCodeChange>, ownUrls: string[]): CodeChange {
  const { name, destination_url, active, password, ...rest } = body;
  const errors: FieldError[] = [];
  const add = (field: string, problem: string | undefined) => {
    if (problem !== undefined) errors.push({ field, message: `${field} ${problem}.` });
  };
  if (name !== undefined) add('name', problemWithName(name));
  if (destination_url !== undefined) add('destination_url', problemWithDestination(destination_url, ...ownUrls));
  if (password !== undefined && password !== null) add('password', problemWithPassword(password));
  const { change: optional, problems } = readFields(rest, ownUrls);
  for (const { field, problem } of problems) add(field, problem);
  const [first, ...more] = errors;
  if (first !== undefined) throw invalid([first, ...more]);
  return {
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(destination_url === undefined ? {} : { destination_url }),
    ...(active === undefined ? {} : { active }),
    ...optional,
  };
}
