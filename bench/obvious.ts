import { Elysia } from 'elysia';
import { connect } from '../src/log/connect.ts';
import { scanOf } from './scan.ts';

/**
 * What a team would write by hand, and what redirects are compared with: a handler that stores each scan with one durable
 * INSERT before it redirects, without order, unique visitors, spool or projections.
 */
const sql = connect(process.env['DATABASE_URL'] as string, { max: 20, name: 'bench-obvious' });
const code = { id: process.env['CODE'] as string, account: process.env['ACCOUNT'] as string };
await sql`
  CREATE TABLE IF NOT EXISTS obvious_scans (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL, code text NOT NULL, account text NOT NULL, mode text NOT NULL, occurred_at timestamptz NOT NULL,
    country text NOT NULL, region text NOT NULL, city text NOT NULL, device text NOT NULL, browser text NOT NULL,
    is_bot boolean NOT NULL, visitor uuid NOT NULL, revision integer NOT NULL
  )`;

const app = new Elysia()
  .get('/:code', async () => {
    await sql`INSERT INTO obvious_scans ${sql(scanOf(code))}`;
    return new Response(null, { status: 302, headers: { location: 'https://example.com/menu' } });
  })
  .listen({ port: 0, hostname: '127.0.0.1' });
console.log(app.server?.port);
