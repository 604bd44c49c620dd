import { type Static, Type as t } from '@sinclair/typebox';
import { exact } from '../http/schemas.ts';
import type { QrCode } from '../qrcodes/qrcode-schemas.ts';
import type { Operations } from './invoke.ts';
import { bodyOf, fieldOf, fieldsOf, qrId, requireOne, type Tool, tool, undoAt } from './tool.ts';

/** Tools that find, create, change and delete codes. */
export const codeTools = (operations: Operations): Tool[] => [
  findCodes(operations),
  createCode(operations),
  updateCode(operations),
  resolve(operations),
  deleteCode(),
];

type Code = Static<typeof QrCode>;

const findCodes = (operations: Operations): Tool =>
  tool({
    name: 'find_codes',
    title: 'Find QR codes',
    description:
      'Lists the QR codes of the account, newest first, with id, name, short link, destination, status and number of scans. Narrow the list with q (text in name, destination, short code or note), tag, status or availability. With qr_id, returns that one code in full instead: style, rules, schedule, scan limit, tags and counts. Most other tools need the id (qr_…) that this one returns. `next` is null at the end of the list; otherwise send it as `after` to get more.',
    input: t.Object(
      {
        qr_id: t.Optional(qrId),
        limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Codes in the response.' })),
        ...fieldsOf(operations, 'listQrCodes', 'query', [
          'q',
          'tag',
          'tag_match',
          'status',
          'availability',
          'domain',
          'sort',
          'after',
        ]),
      },
      exact,
    ),
    scope: 'codes.read',
    effect: 'reads',
    async run({ input: { qr_id, ...query }, invoke }) {
      if (qr_id !== undefined) return { value: await invoke.json('getQrCode', { params: { id: qr_id } }) };
      return { value: await invoke.json('listQrCodes', { query }) };
    },
  });

const createCode = (operations: Operations): Tool =>
  tool({
    name: 'create_code',
    title: 'Create QR codes',
    description:
      'Creates one or many dynamic QR codes, all or none. Each needs a name and a destination_url (http or https). Its short link and its image never change, and its destination can be changed at any time, so printed codes stay valid. A chosen short_code is never free again, not even after a delete: choose one only if the user asks for it. Returns the short link and the address of the image of each code, and warnings about styles that are hard to scan. `undo` of the response has the arguments with which the tool undo takes this back: it pauses the codes.',
    input: t.Object(
      {
        qrcodes: fieldOf(operations, 'createQrCodes', 'body', 'qrcodes'),
        idempotency_key: t.Optional(
          t.String({
            minLength: 1,
            maxLength: 255,
            // It becomes a header.
            pattern: '^[ -~]*$',
            description: 'Any text of ASCII. A repeated call with the same text and codes creates nothing more.',
            'x-expected': '1 to 255 printable ASCII characters',
          }),
        ),
      },
      exact,
    ),
    scope: 'codes.write',
    effect: 'changes',
    async run({ input: { idempotency_key, qrcodes }, invoke }) {
      const { data } = await invoke.json<{ data: (Code & { warnings?: unknown })[] }>('createQrCodes', {
        body: { qrcodes },
        ...(idempotency_key === undefined ? {} : { headers: { 'Idempotency-Key': idempotency_key } }),
      });
      const created = data.map(({ id, name, destination_url, short_url, image_url, status, warnings }) => ({
        id,
        name,
        destination_url,
        short_url,
        image_url,
        status,
        ...(warnings === undefined ? {} : { warnings }),
      }));
      return { value: { created, undo: undoAt(data[0]?.created_at ?? '') } };
    },
  });

const updateCode = (operations: Operations): Tool =>
  tool({
    name: 'update_code',
    title: 'Change QR codes',
    description:
      'Changes codes; printed images stay valid, because only what the short link does changes. For one code, send qr_id and changes with only the fields to change; null removes an optional field, active: false pauses the code. For many codes, send bulk: it selects codes by qr_ids, tag or q, and sets values, replaces a text in URLs, or adds and removes tags. bulk is a dry run that changes nothing unless you send dry_run: false: show the user what would change first. The style, the short code and the domain of a code cannot be changed. `undo` of the response has the arguments with which the tool undo takes this back; null if nothing changed.',
    input: t.Object(
      {
        qr_id: t.Optional(qrId),
        changes: t.Optional(bodyOf(operations, 'updateQrCode')),
        bulk: t.Optional(
          t.Object(
            {
              ...fieldsOf(operations, 'updateQrCodes', 'body', ['qr_ids', 'tag', 'q', 'set', 'replace', 'tags']),
              dry_run: t.Optional(
                t.Boolean({ default: true, description: 'false makes the changes; true only lists them.' }),
              ),
            },
            exact,
          ),
        ),
      },
      exact,
    ),
    scope: 'codes.write',
    effect: 'changes',
    async run({ input, invoke, now }) {
      requireOne(input, ['qr_id', 'bulk']);
      requireOne(input, ['changes', 'bulk']);
      const { qr_id = '', changes, bulk } = input;
      if (bulk !== undefined) {
        const { dry_run = true, ...request } = bulk;
        const { undo, ...response } = await invoke.json<{ undo: { from: string; to: string } | null }>(
          'updateQrCodes',
          {
            body: { ...request, dry_run },
          },
        );
        return { value: { dry_run, ...response, undo: undo && { from: undo.from, to: undo.to } } };
      }
      const code = await invoke.json<Code>('updateQrCode', { params: { id: qr_id }, body: changes });
      const { id, name, destination_url, short_url, status, availability, updated_at } = code;
      // Otherwise it is the time of an earlier change, which may be the caller's, too.
      const isChanged = new Date(updated_at) >= now;
      const value = { id, name, destination_url, short_url, status, availability, updated_at };
      return { value: { ...value, undo: isChanged ? undoAt(updated_at) : null } };
    },
  });

const resolve = (operations: Operations): Tool =>
  tool({
    name: 'resolve',
    title: 'Find out where a scan leads',
    description:
      'Says where a scan of a code would lead, and which rule decides: for a country, device, browser, language, time or query string. Nothing is recorded or counted. With as_of, by the state of the code at that time in the past.',
    input: t.Object(
      {
        qr_id: qrId,
        ...fieldsOf(operations, 'resolveScan', 'body', [
          'country',
          'device',
          'browser',
          'language',
          'at',
          'as_of',
          'query',
          'visitor',
        ]),
      },
      exact,
    ),
    scope: 'codes.read',
    effect: 'reads',
    async run({ input: { qr_id, ...body }, invoke }) {
      return { value: await invoke.json('resolveScan', { params: { id: qr_id }, body }) };
    },
  });

const deleteCode = (): Tool =>
  tool({
    name: 'delete_code',
    title: 'Delete a QR code',
    description:
      'Deletes a code for good: its printed image stops working at once, its scans are removed, and undo cannot bring it back. Prefer update_code with active: false, which pauses it. Ask the user before you call this.',
    input: t.Object({ qr_id: qrId }, exact),
    scope: 'codes.write',
    effect: 'deletes',
    async run({ input: { qr_id }, invoke }) {
      return { value: await invoke.json('deleteQrCode', { params: { id: qr_id } }) };
    },
  });
