import { Type as t } from '@sinclair/typebox';
import { problemWithDestination, problemWithName } from '../../events/fields.ts';
import { oneOf } from '../../events/one-of.ts';
import type { Owner } from '../../events/owner.ts';
import { refuseBlocked } from '../codes/blocked-hosts.ts';
import { change, remove } from '../codes/change.ts';
import { codeFinder, listCodes, listedStatuses, listOrders } from '../codes/codes.ts';
import { historyOf } from '../codes/history.ts';
import { type Fault, invalid, notFound } from '../lib/errors.ts';
import { json } from './answers.ts';
import { type Operation, operation } from './operation.ts';
import { presentCode, presentHistory, presentListed, presentPage } from './present.ts';
import { Deleted, HistoryEntry, ListedQrCode, pageOf, pageQuery, QrCode, QrCodeChange } from './schemas.ts';
import type { Service } from './service.ts';

const tag = 'QR codes';
const params = { id: 'Identifier of the code, `qr_…`.' };

/** Reading, changing and deleting codes. */
export function qrcodeOperations({ sql, clock, addresses, onChange }: Service): Operation[] {
  const find = codeFinder(sql);
  const existing = async (owner: Owner, id: string | undefined) => {
    const code = await find(owner, id ?? '');
    if (code === undefined) throw notFound('QR code');
    return code;
  };

  return [
    operation({
      method: 'GET',
      path: '/v1/qrcodes',
      tag,
      summary: 'List QR codes',
      description: 'Newest first, unless `sort` says otherwise.',
      query: t.Object({
        ...pageQuery({ default: 20, maximum: 100 }),
        status: t.Optional(oneOf(listedStatuses, { description: 'Only codes in this state.' })),
        q: t.Optional(
          t.String({
            minLength: 1,
            maxLength: 255,
            pattern: '^[^\\u0000]*$',
            description: 'Only codes with this text in their name, destination or short code, in any case.',
            'x-expected': 'a text of 1 to 255 characters',
          }),
        ),
        sort: t.Optional(
          oneOf(listOrders, {
            default: '-created_at',
            description: 'Order of the list; `-` turns it round, to newest or most first. Equal ones: newest first.',
          }),
        ),
      }),
      success: { status: 200, description: 'One page of codes.', schema: pageOf(ListedQrCode) },
      errors: ['invalid_request'],
      async handle({ caller, query: { page = 1, limit = 20, status, q, sort } }) {
        const { codes, total } = await listCodes(sql, caller, { page, limit, status, words: q, order: sort });
        const items = codes.map((code) => presentListed(code, addresses));
        return json(200, presentPage(items, { page, limit }, total));
      },
    }),

    operation({
      method: 'GET',
      path: '/v1/qrcodes/:id',
      tag,
      summary: 'Get a QR code',
      description:
        'One code with its current destination, state, style and scan counts. A key finds only codes of its own account and mode; a deleted code is not found.',
      params,
      success: { status: 200, description: 'The code.', schema: QrCode },
      errors: ['not_found'],
      async handle({ caller, params: { id } }) {
        return json(200, presentCode(await existing(caller, id), addresses));
      },
    }),

    operation({
      method: 'PATCH',
      path: '/v1/qrcodes/:id',
      tag,
      summary: 'Update a QR code',
      description:
        'Only the fields to change. A change that changes nothing succeeds and leaves `updated_at` alone. The style and the short code can never be changed: the printed image must stay what it is.',
      params,
      body: QrCodeChange,
      success: { status: 200, description: 'The code as it is now.', schema: QrCode },
      errors: [
        'invalid_request',
        'destination_blocked',
        'not_found',
        'conflict',
        'payload_too_large',
        'unsupported_media_type',
      ],
      async handle({ caller, params: { id = '' }, body: { name, ...rest } }) {
        const wanted = { ...rest, ...(name === undefined ? {} : { name: name.trim() }) };
        checkChange(wanted, addresses.ownUrls);
        const { destination_url } = wanted;
        if (destination_url !== undefined) await refuseBlocked(sql, [{ destination_url }]);
        const { code, events } = await change(sql, caller, id, wanted, { actor: caller.key, now: clock() });
        await onChange(events);
        return json(200, presentCode(code, addresses));
      },
    }),

    operation({
      method: 'DELETE',
      path: '/v1/qrcodes/:id',
      tag,
      summary: 'Delete a QR code',
      description:
        'Permanent and irreversible: the short link stops working at once, and is never given to another code.',
      params,
      success: { status: 200, description: 'The code is deleted.', schema: Deleted },
      errors: ['not_found', 'conflict'],
      async handle({ caller, params: { id = '' } }) {
        const { events } = await remove(sql, caller, id, { actor: caller.key, now: clock() });
        await onChange(events);
        return json(200, { deleted: true, id });
      },
    }),

    operation({
      method: 'GET',
      path: '/v1/qrcodes/:id/history',
      tag,
      summary: 'Every change of a QR code',
      description: 'From the log, newest first: what, when, from, to, and by which key.',
      params,
      query: t.Object(pageQuery({ default: 50, maximum: 500 })),
      success: { status: 200, description: 'One page of changes.', schema: pageOf(HistoryEntry) },
      errors: ['invalid_request', 'not_found'],
      async handle({ caller, params: { id }, query: { page = 1, limit = 50 } }) {
        const code = await existing(caller, id);
        // Versions count from 1 without a gap, so a page is a range of them.
        const total = code.version;
        const to = Math.max(0, total - (page - 1) * limit);
        const events = await historyOf(sql, code.id, { after: Math.max(0, to - limit), to });
        return json(200, presentPage(events.map(presentHistory), { page, limit }, total));
      },
    }),
  ];
}

function checkChange(wanted: { name?: string; destination_url?: string }, ownUrls: string[]): void {
  const faults: Fault[] = [];
  const add = (field: string, fault: string | undefined) => {
    if (fault !== undefined) faults.push({ field, message: `${field} ${fault}.` });
  };
  if (wanted.name !== undefined) add('name', problemWithName(wanted.name));
  if (wanted.destination_url !== undefined)
    add('destination_url', problemWithDestination(wanted.destination_url, ...ownUrls));
  const [first, ...rest] = faults;
  if (first !== undefined) throw invalid([first, ...rest]);
}
