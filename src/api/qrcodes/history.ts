import { Type as t } from '@sinclair/typebox';
import type { CodeEvent } from '../../../events/code-events.ts';
import type { Owner } from '../../../events/owner.ts';
import type { Recorded } from '../../../events/recorded.ts';
import { requireStillAdmitted } from '../../accounts/admission.ts';
import type { FoundCode } from '../../codes/codes.ts';
import { historyOf } from '../../codes/history.ts';
import { retryLater } from '../../lib/errors.ts';
import { LimitPerKey } from '../../lib/limit-per-key.ts';
import type { Queryable } from '../../lib/sql.ts';
import { actorNames } from '../../people/names.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { pageOf, pageQuery } from '../http/schemas.ts';
import type { Service } from '../service.ts';
import { presentHistory, presentPage } from './present.ts';
import { HistoryEntry } from './qrcode-schemas.ts';

/** Long pages of an account at once: each holds a part of 512 KiB for as long as its client takes to read. */
const maxOpen = 4;
const open = new LimitPerKey(maxOpen, () =>
  retryLater(`The account reads ${maxOpen} long pages of changes at once, which is the limit: try again in a moment.`),
);

export const listHistory = (
  { sql, clock }: Service,
  requireCode: (owner: Owner, id: string | undefined) => Promise<FoundCode>,
): Operation =>
  operation({
    operationId: 'listQrCodeChanges',
    method: 'GET',
    path: '/v1/qrcodes/:id/history',
    tag: 'QR codes',
    summary: 'List changes of a QR code',
    description:
      'Every change of the code, newest first: what changed, when, from, to, and by which key or person. 500 changes of long rules can have 100 MB, which are sent as fast as they are read: ask for fewer with `limit`. If such a response fails part-way, the service closes the connection.',
    params: { id: 'Identifier of the code, `qr_…`.' },
    query: t.Object(pageQuery({ default: 50, maximum: 500 })),
    success: { status: 200, description: 'One page of changes.', schema: pageOf(HistoryEntry) },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id }, query: { page = 1, limit = 50 } }) {
      const code = await requireCode(caller, id);
      // Versions count from 1 without gaps, so a page is a range of versions.
      const total = code.version;
      const to = Math.max(0, total - (page - 1) * limit);
      const after = Math.max(0, to - limit);
      const parts = historyOf(sql, code, { after, to });
      const present = presenter(sql, code);
      const first = (await parts.next()).value ?? [];
      const entries = await present(first);
      const envelope = presentPage(entries, { page, limit }, total);
      if ((first.at(-1)?.version ?? after + 1) === after + 1) return json(200, envelope);
      open.admit(caller.account)();
      const rest = restOf(parts, present, () => requireStillAdmitted(sql, caller, clock()));
      return { status: 200, pieces: open.counted(caller.account, piecesOf(envelope, rest)) };
    },
  });

type Entries = ReturnType<typeof presentHistory>[];

/** Presents events with the present names of who caused them. */
const presenter =
  (sql: Queryable, { account }: FoundCode) =>
  async (events: Recorded<CodeEvent>[]): Promise<Entries> => {
    const names = await actorNames(
      sql,
      account,
      events.map(({ actor }) => actor),
    );
    return events.map((event) => presentHistory(event, names));
  };

async function* restOf(
  parts: AsyncGenerator<Recorded<CodeEvent>[]>,
  present: ReturnType<typeof presenter>,
  checkCaller: () => Promise<void>,
): AsyncGenerator<Entries> {
  for await (const events of parts) {
    await checkCaller();
    yield await present(events);
  }
}

/** The text of a page whose entries come in parts: `first` has those of the first one. */
async function* piecesOf(
  { data, pagination }: ReturnType<typeof presentPage<Entries[number]>>,
  rest: AsyncGenerator<Entries>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{"data":[${textOf(data)}`);
  for await (const entries of rest) yield Buffer.from(`,${textOf(entries)}`);
  yield Buffer.from(`],"pagination":${JSON.stringify(pagination)}}`);
}

const textOf = (entries: Entries) => JSON.stringify(entries).slice(1, -1);
