import { Elysia } from 'elysia';

/** The limit that redirects are compared with: Elysia answering 302, without a log. */
const app = new Elysia()
  .get('/:code', () => new Response(null, { status: 302, headers: { location: 'https://example.com/menu' } }))
  .listen({ port: 0, hostname: '127.0.0.1' });
console.log(app.server?.port);
