import { Elysia } from 'elysia';

/** What everything is measured against: Elysia answering 302, and nothing else. */
const app = new Elysia()
  .get('/:code', () => new Response(null, { status: 302, headers: { location: 'https://example.com/menu' } }))
  .listen({ port: 0, hostname: '127.0.0.1' });
console.log(app.server?.port);
