import { Elysia } from 'elysia';
import postgres from 'postgres';

/** The limit that API reads are compared with: Elysia with one SELECT by key, without authentication or rate limit. */
const sql = postgres(process.env['DATABASE_URL'] ?? '', { max: 20 });
const app = new Elysia()
  .get('/v1/qrcodes/:id', async ({ params }) => (await sql`SELECT * FROM codes WHERE id = ${params.id}`)[0])
  .listen({ port: 0, hostname: '127.0.0.1' });
console.log(app.server?.port);
