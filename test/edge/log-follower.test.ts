import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBans } from '../../src/edge/bans.ts';
import { Domains } from '../../src/edge/domains.ts';
import { LogFollower } from '../../src/edge/log-follower.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { useDatabase } from '../support/database.ts';
import { codesIn, loadRoute } from './routes-support.ts';

const database = useDatabase();
const { given, patch, routesOn } = codesIn(database);
let sql: Sql;

beforeAll(async () => {
  // Found before the function of the same name in pg_catalog, so that a test can replace the server.
  await database.sql.unsafe(`
    CREATE SCHEMA server;
    CREATE TABLE server.starts (at timestamptz);
    INSERT INTO server.starts VALUES (now());
    CREATE FUNCTION server.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql AS 'SELECT at FROM server.starts'`);
  sql = connect(`${database.url}?search_path=server,pg_catalog,public`);
});
afterAll(() => sql.end({ timeout: 1 }));

test('a change that a promoted replica lacks is undone, also if neither the stream nor a projection has seen it', async () => {
  const code = await given();
  const routes = routesOn(sql);
  const follower = new LogFollower(sql, { routes, bans: createBans(sql), domains: new Domains(sql, undefined) });
  await follower.poll();
  await loadRoute(routes, code.short_code);
  routes.apply(await patch(code, { destination_url: 'https://example.com/2' }));
  await follower.poll();
  expect(routes.get(code.short_code)).toMatchObject({ location: 'https://example.com/2' });
  await database.sql`UPDATE codes SET destination_url = 'https://example.com/1', version = 1 WHERE id = ${code.id}`;
  await follower.poll();
  expect(routes.get(code.short_code), 'the same server').toMatchObject({ location: 'https://example.com/2' });
  await database.sql`UPDATE server.starts SET at = at + interval '1 minute'`;
  await follower.poll();
  expect(routes.get(code.short_code), 'another server').toMatchObject({ location: 'https://example.com/1' });
});
