import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { swagger } from '@elysiajs/swagger';
import type { Elysia } from 'elysia';
import { documentation } from './document.ts';
import { type GeneratedDocument, shareParts } from './sharing.ts';

const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Scanlog API</title>
<link rel="icon" href="/swagger/favicon-32x32.png">
<link rel="stylesheet" href="/swagger/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/swagger/swagger-ui-bundle.js"></script>
<script src="/swagger/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** Where the plugin serves what it has generated from the operations. */
const generatedPath = '/swagger/generated.json';

// Only files of this origin. Swagger UI draws its icons as data: images.
const policy = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/**
 * Serves the OpenAPI document at /openapi.json and /swagger/json, and at /swagger a page of our own with Swagger UI's files: the plugin's
 * page loads them from a CDN.
 */
export function serveSwagger(app: Elysia): void {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const send = (body: string | Uint8Array<ArrayBuffer>, type: string, cache = 'no-cache') =>
    new Response(body, {
      headers: {
        'content-type': type,
        'cache-control': cache,
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      },
    });
  const hidden = { detail: { hide: true } };

  app.use(
    swagger({
      // The plugin's own page, which runs scripts from a CDN on our origin, is replaced by ours below.
      path: '/swagger',
      specPath: generatedPath,
      provider: 'swagger-ui',
      excludeStaticFile: false,
      exclude: [/^(?!\/v1\/)/],
      documentation,
    }),
  );
  let document: Promise<string> | undefined;
  const sendDocument = async () => {
    document ??= app.handle(new Request(`http://localhost${generatedPath}`)).then(async (generated) => {
      return JSON.stringify(shareParts((await generated.json()) as GeneratedDocument));
    });
    return send(await document, 'application/json');
  };
  // The first is where tools look, the second where the plugin would serve it.
  for (const path of ['/openapi.json', '/swagger/json']) app.get(path, sendDocument, hidden);
  app.get('/swagger', () => send(page, 'text/html; charset=utf-8'), hidden);
  app.get('/swagger/start.js', () => send(start, 'text/javascript; charset=utf-8'), hidden);
  for (const [name, type] of Object.entries(assets)) {
    app.get(
      `/swagger/${name}`,
      async () => send(new Uint8Array(await readFile(join(folder, name))), type, 'public, max-age=86400'),
      hidden,
    );
  }
}
