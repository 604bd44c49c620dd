import { swagger } from '@elysiajs/swagger';
import { Elysia } from 'elysia';
import type { Operation } from '../http/operation.ts';
import { describe, documentation } from './document.ts';
import { type GeneratedDocument, shareParts } from './sharing.ts';

/** Where the plugin serves what it has generated, in an app that serves nothing else. */
const generatedPath = '/generated.json';

/** Generates the OpenAPI document of the operations, as JSON. */
export async function generateDocument(operations: Operation[]): Promise<string> {
  const app = new Elysia().use(
    swagger({ specPath: generatedPath, provider: 'swagger-ui', excludeStaticFile: false, documentation }),
  );
  for (const operation of operations)
    app.route(operation.method, operation.path, () => {}, { detail: describe(operation) });
  const generated = await app.handle(new Request(`http://localhost${generatedPath}`));
  return JSON.stringify(shareParts((await generated.json()) as GeneratedDocument));
}
