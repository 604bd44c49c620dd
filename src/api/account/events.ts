import { type TSchema, Type as t } from '@sinclair/typebox';
import type { Owner } from '../../../events/owner.ts';
import { type Caller, isAdmittedAsLong } from '../../accounts/admission.ts';
import { maxStreamMs } from '../../feed/feed.ts';
import { Filter } from '../../feed/filter.ts';
import { notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Queryable } from '../../lib/sql.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import { type Call, type Operation, operation } from '../http/operation.ts';
import { type ApiResponse, type StreamedResponse, unavailable } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { EventPage, typesIn, typesTable } from './event-schemas.ts';

const maxWaitSeconds = 30;
const defaultLimit = 100;

const query = t.Object({
  after: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Only events after this cursor: `next` of an earlier response, or the `id` of a message of a stream. Without it, from the beginning; `now` begins at the end.',
    }),
  ),
  types: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'Only events of these types, separated by commas: `scan.created,code.updated`.',
    }),
  ),
  qr_id: t.Optional(t.String({ description: 'Only events of this code, which may be deleted.' })),
  limit: t.Optional(
    t.Integer({ minimum: 1, maximum: 1_000, default: defaultLimit, description: 'Maximum number of events.' }),
  ),
  wait: t.Optional(
    t.Integer({
      minimum: 0,
      maximum: maxWaitSeconds,
      default: 0,
      description: 'Seconds to wait for an event if there is none. The response comes as soon as there is one.',
    }),
  ),
});

const description = `Scans and changes of the account, in the mode of the key, in the order of the log: each event once, none missing, none out of order, however often and from wherever it is read. \`next\` is a cursor that stays valid forever.

With \`Accept: text/event-stream\` the response is a stream of [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html) that does not end: first the events after \`after\` or \`Last-Event-ID\`, then new ones as they happen. \`data\` of a message is an event as below, \`id\` is the cursor after it. A comment is sent every 15 s. \`limit\` and \`wait\` do not apply. The stream ends when the key is revoked or rotated or the account suspended, and at the latest after an hour: connect again with the last \`id\`, as browsers do by themselves. An account can have 25 open streams and waiting requests at one process of the service, unless its operator sets another limit; one more answers 429 and names the limit.

A stream, and a request that waits, count as one request. Scans of deleted codes, and scans that the operator's retention has removed, are left out; changes of deleted codes stay. A live key sees events of the whole account; a test key only events of test codes, test keys and the test webhook.

${typesTable}`;

/** The feed of events. */
export const eventOperations = (service: Service): Operation[] => [listEvents(service)];

type EventCall = Call<typeof query, TSchema>;

const listEvents = (service: Service): Operation =>
  operation({
    operationId: 'listEvents',
    method: 'GET',
    path: '/v1/events',
    tag: 'Events',
    summary: 'Read or follow the events of the account',
    description,
    query,
    headers: { 'Last-Event-ID': 'For a stream: like `after`, and in place of it.' },
    success: { status: 200, description: 'Events.', schema: EventPage, files: ['text/event-stream'] },
    answerWithinMs: maxWaitSeconds * 1_000 + timeouts.feedMs,
    errors: ['invalid_request', 'not_found'],
    async handle(call) {
      const { query: wanted, caller, headers } = call;
      const filter = new Filter({ ...typesOf(wanted.types), qrId: wanted.qr_id });
      if (wanted.qr_id !== undefined) await requireOwnedCode(service.sql, caller, wanted.qr_id);
      return isStream(headers) ? streamEvents(service, call, filter) : pageOfEvents(service, call, filter);
    },
  });

const typesOf = (text: string | undefined) => {
  const types = typesIn('types', text);
  return types === undefined ? {} : { types };
};

const isStream = (headers: Headers) => /\btext\/event-stream\b/i.test(headers.get('accept') ?? '');

async function pageOfEvents({ feed, sql, clock }: Service, call: EventCall, filter: Filter): Promise<ApiResponse> {
  const { caller, signal, query: wanted } = call;
  const { limit = defaultLimit, wait = 0 } = wanted;
  const owner = { account: caller.account, mode: caller.mode };
  const isAllowed = () => isAdmittedAsLong(sql, caller, clock());
  const after = await inTime(feed.positionOf(owner, wanted.after, 'after'));
  const page =
    wait > 0
      ? await feed.wait(caller, {
          after,
          filter,
          limit,
          waitMs: Math.min(wait * 1_000, validMs(caller, clock())),
          signal,
          isAllowed,
        })
      : await inTime(feed.read(owner, { after, filter, limit }));
  const { events, next, has_more } = page;
  const body = `{"data":[${events.join(',')}],"next":${JSON.stringify(next)},"has_more":${has_more}}`;
  return { status: 200, body };
}

async function streamEvents({ feed, sql, clock }: Service, call: EventCall, filter: Filter): Promise<StreamedResponse> {
  const { caller, headers, query: wanted } = call;
  const signal = untilExpiry(call, clock());
  const lastEventId = headers.get('last-event-id') ?? undefined;
  const field = lastEventId === undefined ? 'after' : 'Last-Event-ID';
  const after = await inTime(feed.positionOf(caller, lastEventId ?? wanted.after, field));
  const isAllowed = () => isAdmittedAsLong(sql, caller, clock());
  const opening = feed.stream(caller, { after, filter, signal, isAllowed });
  const pieces = await inTime(opening).catch((error) => {
    void opening.then(
      (late) => late.return(undefined),
      () => {},
    );
    throw error;
  });
  // The client may disconnect before the response begins.
  if (signal.aborted) await pieces.return(undefined);
  else signal.addEventListener('abort', () => void pieces.return(undefined), { once: true });
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      // nginx and proxies that follow its convention would otherwise collect the stream before they pass it on.
      'x-accel-buffering': 'no',
    },
    pieces,
  };
}

/** How long the key is valid; the log has no event of its expiry. */
const validMs = ({ expires_at }: Caller, now: Date) =>
  expires_at === null ? Number.POSITIVE_INFINITY : Math.max(0, expires_at.getTime() - now.getTime());

/** Also aborted when the key expires. */
function untilExpiry({ caller, signal }: EventCall, now: Date): AbortSignal {
  const leftMs = validMs(caller, now);
  return leftMs > maxStreamMs ? signal : AbortSignal.any([signal, AbortSignal.timeout(leftMs)]);
}

/** The operation as a whole may take longer, because it can wait. */
const inTime = <T>(work: Promise<T>): Promise<T> =>
  withTimeout(work, timeouts.feedMs, () => {
    throw unavailable();
  });

async function requireOwnedCode(sql: Queryable, { account, mode }: Owner, id: string): Promise<void> {
  const rows = isId('qr', id)
    ? await sql`SELECT 1 FROM codes WHERE id = ${id} AND account = ${account} AND mode = ${mode}`
    : [];
  if (rows.length === 0) throw notFound('code');
}
