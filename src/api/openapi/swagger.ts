import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Elysia } from 'elysia';
import type { Operation } from '../http/operation.ts';

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

// Only files of this origin. Swagger UI draws its icons as data: images.
const policy = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/**
 * Serves the OpenAPI document of the operations at /openapi.json and /swagger/json, and at /swagger a page of our own with Swagger UI's
 * files: the page of the plugin that generates the document loads them from a CDN.
 */
export function serveSwagger(app: Elysia, operations: Operation[]): void {
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

  const sendDocument = async () => send(await documentOf(operations), 'application/json');
  // The first is where tools look, the second where the plugin would serve it.
  for (const path of ['/openapi.json', '/swagger/json']) app.get(path, sendDocument);
  app.get('/swagger', () => send(page, 'text/html; charset=utf-8'));
  app.get('/swagger/start.js', () => send(start, 'text/javascript; charset=utf-8'));
  for (const [name, type] of Object.entries(assets)) {
    app.get(`/swagger/${name}`, async () =>
      send(new Uint8Array(await readFile(join(folder, name))), type, 'public, max-age=86400'),
    );
  }
}

/** One for all services of a process, since no setting changes what an operation accepts and answers. */
let document: Promise<string> | undefined;

/** The generator is loaded by the first request: it and the document take 0.2 s of CPU, which a start should not wait for. */
function documentOf(operations: Operation[]): Promise<string> {
  document ??= import('./generate.ts').then(({ generateDocument }) => generateDocument(operations));
  return document;
}
