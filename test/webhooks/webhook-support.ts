import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { parseRanges } from '../../src/lib/ip-range.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { headOfLog } from '../../src/log/read.ts';
import { type Api, created, type Json } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import type { TestService } from '../support/service.ts';
import type { MovableClock } from './clock.ts';
import type { Receiver } from './receiver.ts';

const loopback = parseRanges('127.0.0.0/8');
if ('error' in loopback) throw new Error(loopback.error);

/** Settings that allow calls to the receivers of tests. */
export const mayCallTests = { webhookAllowHttp: true, webhookAllowedCidrs: loopback };

export const newPath = () => `r${randomBytes(6).toString('hex')}`;

/** Deliveries that are not answered end only by the test. The response of a receiver has no timeout in these files. */
export const withoutSendTimeout = { webhookSendMs: 24 * 60 * 60 * 1000 };

/** The services of a test file, whose clock a test moves. */
export interface WebhookWorld {
  service: TestService;
  receiver: Receiver;
  time: MovableClock;
}

/** Creates an active code. */
export const codeOf = (api: Api): Promise<{ id: string; short_code: string }> => created(api);

/** Waits until every scan and event is in the log, and the deliveries that follow from them are created. */
export async function allApplied(service: TestService): Promise<void> {
  await service.allStored();
  const { sql } = service.database;
  const head = await headOfLog(sql);
  await eventually(async () => {
    const [row] = await sql<{ position: number }[]>`SELECT position FROM checkpoints WHERE projection = 'webhooks'`;
    expect(row?.position).toBeGreaterThanOrEqual(head);
  });
}

/** Scans a code `times` times, each as a new visitor. */
export async function scanCode(url: string, { short_code }: { short_code: string }, times = 1): Promise<void> {
  const seed = randomBytes(4).toString('hex');
  await Promise.all(
    Array.from({ length: times }, async (_, i) => {
      const bytes = createHash('sha256').update(`${seed} ${i}`).digest();
      const address = `81.${bytes[0]}.${bytes[1]}.${bytes[2]}`;
      const response = await fetch(`${url}/${short_code}`, {
        redirect: 'manual',
        headers: { 'x-forwarded-for': address, 'user-agent': `test ${seed} ${i}` },
      });
      expect(response.status).toBe(302);
    }),
  );
}

/** Sets the webhook of the key's mode. */
export async function setHook(api: Api, url: string): Promise<Json> {
  const { status, body } = await api.put('/v1/account/webhook', { url });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Waits for `count` deliveries with this status. Queries the database, because the API has a rate limit. */
export const untilThereAre = (sql: Sql, account: string, count: number, status: string) =>
  eventually(async () => {
    const [row] = await sql<{ deliveries: number }[]>`
      SELECT deliveries FROM delivery_counts
      WHERE account = ${account} AND webhook = 'live' AND status = ${status}`;
    expect(row?.deliveries ?? 0, `deliveries that are ${status}`).toBe(count);
  });

/** Waits until the account's only delivery has this number of attempts. */
export const untilTried = (sql: Sql, account: string, times: number) =>
  eventually(async () => {
    const [row] = await sql<{ tried: number }[]>`
      SELECT jsonb_array_length(attempts) AS tried FROM deliveries WHERE account = ${account}`;
    expect(row?.tried, 'attempts').toBe(times);
  });

export const deliveriesOf = async (api: Api, query = ''): Promise<Json[]> =>
  (await api.get(`/v1/account/webhook/deliveries${query}`)).body.data;
