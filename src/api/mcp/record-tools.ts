import { Type as t } from '@sinclair/typebox';
import { exact } from '../http/schemas.ts';
import type { Operations } from './invoke.ts';
import { fieldsOf, qrId, type Tool, tool } from './tool.ts';

/** Tools that read what was done, and undo it. */
export const recordTools = (operations: Operations): Tool[] => [
  history(operations),
  undo(operations),
  audit(operations),
];

const history = (operations: Operations): Tool =>
  tool({
    name: 'history',
    title: 'Read the history of a QR code',
    description:
      'Every change of a code, newest first: what changed, when, from which value to which, by which key (key_id) and, if it was made through MCP, by which client. It says what to undo, and who changed something.',
    input: t.Object({ qr_id: qrId, ...fieldsOf(operations, 'listQrCodeChanges', 'query', ['page', 'limit']) }, exact),
    scope: 'codes.read',
    effect: 'reads',
    async run({ input: { qr_id, ...query }, invoke }) {
      return { value: await invoke.json('listQrCodeChanges', { params: { id: qr_id }, query }) };
    },
  });

/** What a person means by "undo that" was done a moment ago. */
const defaultUndoMs = 3_600_000;

const undo = (operations: Operations): Tool =>
  tool({
    name: 'undo',
    title: 'Undo your own changes',
    description:
      'Undoes what you, this client with this API key, changed in a period, in one call: each field gets the value that it had before, and codes that you created are paused. What other people and clients changed stays as it is, also if they changed the same field later; `skipped` lists that. To undo one change, send the `undo` of its response. Without from, everything of the last hour is undone: send dry_run: true first and show the user what would change. Deleted codes do not come back.',
    input: t.Object(
      {
        from: t.Optional(
          t.String({
            description: 'Changes since this time are undone. Default: an hour ago.',
            examples: ['2026-05-03T12:00:00Z'],
          }),
        ),
        ...fieldsOf(operations, 'revertChanges', 'body', ['to', 'dry_run']),
      },
      exact,
    ),
    // Its own changes only, which it could also take back one by one.
    scope: 'codes.write',
    effect: 'changes',
    async run({ input: { from, ...rest }, invoke, caller, now }) {
      const since = from ?? new Date(now.getTime() - defaultUndoMs).toISOString();
      const body = { ...rest, from: since, actor: caller.actor };
      return { value: await invoke.json('revertChanges', { body }) };
    },
  });

const audit = (operations: Operations): Tool =>
  tool({
    name: 'audit',
    title: 'Read the audit log',
    description:
      'Who did what to the account, newest first: API keys, webhooks, domains, sign-ins, undone changes and actions of the operator. Changes of a single code are in its history.',
    input: t.Object(
      fieldsOf(operations, 'listAuditEvents', 'query', ['actor', 'type', 'from', 'to', 'page', 'limit']),
      exact,
    ),
    scope: 'events.read',
    effect: 'reads',
    async run({ input: query, invoke }) {
      return { value: await invoke.json('listAuditEvents', { query }) };
    },
  });
