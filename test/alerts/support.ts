import { expect } from 'vitest';
import type { Sql } from '../../src/lib/sql.ts';
import type { Api, Json } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { endWindows } from '../support/rate-windows.ts';

export async function createAlert(api: Api, body: object): Promise<Json> {
  const answered = await api.post('/v1/alerts', body);
  expect(answered.status, JSON.stringify(answered.body)).toBe(201);
  return answered.body;
}

export const raisedOf = async (api: Api): Promise<Json[]> => (await api.get('/v1/alerts/raised')).body.data;

/** The events of alerts in the feed, oldest first. */
export const eventsOf = async (api: Api): Promise<Json[]> =>
  (await api.get('/v1/events?types=alert.raised,alert.cleared')).body.data;

/** Waits until this many things are raised. */
export const reachesRaised = (sql: Sql, api: Api, count: number): Promise<Json[]> =>
  eventually(async () => {
    await endWindows(sql);
    const raised = await raisedOf(api);
    expect(raised).toHaveLength(count);
    return raised;
  });
