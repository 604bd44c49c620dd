import { type Static, Type as t } from '@sinclair/typebox';
import type { PublicEvent } from '../../../events/public-event.ts';
import { requireStillAdmitted } from '../../accounts/admission.ts';
import { managedModes } from '../../accounts/keys.ts';
import { type AuditSelection, auditTypes, listAudit, readAudit } from '../../feed/audit.ts';
import { presentEvent } from '../../feed/frame.ts';
import { invalid } from '../../lib/errors.ts';
import type { Queryable } from '../../lib/sql.ts';
import { actorNames } from '../../people/names.ts';
import { parseTime, timeProblem } from '../analytics/period.ts';
import { type Call, type Operation, operation } from '../http/operation.ts';
import { json, type StreamedResponse } from '../http/responses.ts';
import { pageOf, pageQuery } from '../http/schemas.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';
import { AuditEvent, typesIn } from './event-schemas.ts';

const time = (description: string) =>
  t.Optional(t.String({ description, examples: ['2026-03-01'], 'x-expected': 'a date or a timestamp' }));

const query = t.Object({
  actor: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[\\w-]+(/[\\w.-]+)?$',
      'x-expected': 'the id of a key or person, the client of a key, operator or scanlog',
      description:
        'Only what this key (`key_…`), one of its clients (`key_…/claude-code`) or this person (`usr_…`) did, or `operator`, or `scanlog`, the service itself.',
    }),
  ),
  type: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'Only events of this type, such as `key.created`; several are separated by commas.',
    }),
  ),
  from: time('Only events from this day on, `YYYY-MM-DD` in UTC, or from this ISO 8601 timestamp on.'),
  to: time('Only events up to this day, included in full, or up to this timestamp.'),
  ...pageQuery({ default: 50, maximum: 500 }),
});

const rowsPerChunk = 1_000;

/** The audit log. */
export const auditOperations = ({ sql, clock }: Service): Operation[] => [
  operation({
    operationId: 'listAuditEvents',
    method: 'GET',
    path: '/v1/account/audit',
    tag: 'Account',
    summary: 'Read the audit log',
    description: `Who did what to the account, newest first: keys, members, webhooks, plan, sign-ins to the console and failed ones, ended sessions, and the operator's actions. Changes of codes are in their history and in \`GET /v1/events\`. A test key sees only what belongs to test mode.

A failed sign-in is here if the key or link belongs to the account, at most 10 an hour. There are no secrets and no addresses in it; devices have general names such as "iPhone".

With \`Accept: application/x-ndjson\` the response is the whole selection, oldest first, one event a line; \`page\` and \`limit\` do not apply.

Types: ${auditTypes.map((type) => `\`${type}\``).join(', ')}.`,
    query,
    success: {
      status: 200,
      description: 'One page of events, or all of them.',
      schema: pageOf(AuditEvent),
      files: ['application/x-ndjson'],
    },
    errors: ['invalid_request'],
    async handle({ caller, headers, query: wanted }) {
      const { page = 1, limit = 50 } = wanted;
      const selection = selectionOf(caller, wanted);
      if (/\bapplication\/x-ndjson\b/i.test(headers.get('accept') ?? '')) {
        const checkCaller = () => requireStillAdmitted(sql, caller, clock());
        return exported(linesOf(sql, selection, checkCaller));
      }
      const { events, total } = await listAudit(sql, selection, { page, limit });
      return json(200, presentPage(await presentNamed(sql, selection.account, events), { page, limit }, total));
    },
  }),
];

function selectionOf({ account, mode }: Call<never, never>['caller'], wanted: Static<typeof query>): AuditSelection {
  const parse = (field: 'from' | 'to') => {
    const text = wanted[field];
    const parsed = text === undefined ? undefined : parseTime(text, 'UTC');
    if (text !== undefined && parsed === undefined) throw invalid([{ field, message: `${field} ${timeProblem}.` }]);
    return parsed && new Date(parsed[field]);
  };
  const [from, to] = [parse('from'), parse('to')];
  if (from !== undefined && to !== undefined && from > to)
    throw invalid([{ field: 'from', message: 'from must not be after to.' }]);
  const types = typesIn('type', wanted.type, auditTypes) ?? auditTypes;
  return { account, modes: managedModes(mode), types, actor: wanted.actor, from, to };
}

/** Events with the present names of who caused them. */
async function presentNamed(sql: Queryable, account: string, events: PublicEvent[]) {
  const names = await actorNames(
    sql,
    account,
    events.map(({ actor }) => actor),
  );
  return events.map((event) => {
    const { data, ...rest } = presentEvent(event);
    return { ...rest, actor_name: names.get(event.actor) ?? null, data };
  });
}

function exported(pieces: AsyncGenerator<Uint8Array>): StreamedResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="audit.ndjson"',
    },
    pieces,
  };
}

async function* linesOf(
  sql: Queryable,
  selection: AuditSelection,
  checkCaller: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let after = 0; ; ) {
    const { events, to } = await readAudit(sql, selection, { after, limit: rowsPerChunk });
    if (to === after) return;
    if (after > 0) await checkCaller();
    after = to;
    const named = await presentNamed(sql, selection.account, events);
    yield encoder.encode(named.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
}
