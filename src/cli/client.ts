import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plugin } from 'bun';
import { Elysia } from 'elysia';
import packageJson from '../../package.json' with { type: 'json' };
import { generateDocument } from '../api/openapi/generate.ts';
import type { Service } from '../api/service.ts';
import { serveApi } from '../api/v1.ts';
import { readConfig } from '../config/config.ts';
import { StartError } from '../lib/errors.ts';
import { createLogger } from '../lib/logger.ts';
import { print } from './terminal.ts';

const root = join(import.meta.dir, '../..');
const folder = join(root, 'clients/typescript');
const generated = join(folder, 'src/generated');
const sources = 'sources.json';

/** Writes the generated part of clients/typescript, and builds its package in dist/. */
export async function buildClient(): Promise<void> {
  const document = await currentDocument();
  await generateClient(document);
  await bundleClient(join(folder, 'dist'));
  const types = Bun.spawnSync(
    [process.execPath, '--bun', join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--noEmit', 'false'],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (!types.success) throw new StartError('The types of clients/typescript are wrong: see above.');
  print('clients/typescript is up to date, and built in clients/typescript/dist.');
}

/** The OpenAPI document of this version. Operations use their service only in requests, and none is made. */
async function currentDocument(): Promise<string> {
  const unused = new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : unused) }) as Service & object;
  const api = serveApi(new Elysia(), unused, {
    trustedProxies: readConfig({}).trustedProxies,
    log: createLogger('silent', false),
    isReady: () => false,
  });
  api.close();
  return generateDocument(api.operations);
}

/**
 * Generates the operations and the types. The code that @hey-api/openapi-ts would add to send requests is left out: it has 9.9 kB, half
 * of what the whole client may have, and neither retries nor typed errors. src/client.ts replaces it.
 */
async function generateClient(document: string): Promise<void> {
  // The generator needs the compiler's API, which TypeScript 7 does not have.
  plugin({
    name: 'TypeScript for the generator',
    setup: (build) => {
      build.module('typescript', async () => ({ exports: await import('typescript-5'), loader: 'object' }));
    },
  });
  const { createClient } = await import('@hey-api/openapi-ts');
  const output = await mkdtemp(join(tmpdir(), 'scanlog-client-'));
  try {
    await createClient({
      input: JSON.parse(document),
      output: { path: output, importFileExtension: '.ts' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', { name: '@hey-api/sdk', client: false, auth: false }],
      logs: { level: 'silent' },
    });
    const files = {
      'sdk.gen.ts': withOwnClient(await readFile(join(output, 'sdk.gen.ts'), 'utf8')),
      'types.gen.ts': await readFile(join(output, 'types.gen.ts'), 'utf8'),
      'idempotent.gen.ts': idempotentPathsOf(document),
    };
    await rm(generated, { recursive: true, force: true });
    for (const [name, text] of Object.entries(files)) await Bun.write(join(generated, name), text);
    await writeFile(join(generated, sources), `${JSON.stringify(await sourcesOf(document), null, 2)}\n`);
  } finally {
    await rm(output, { recursive: true });
  }
}

/** Replaces the client of the generator with ours, which is beside the folder of the generated files. */
function withOwnClient(sdk: string): string {
  const theirs = /^(import type \{)[^}]*(\} from ')\.\/client\/index\.ts';$/m;
  const replaced = sdk
    .replace(theirs, "$1 Options, RequestResult $2../client.ts';")
    .replace(/^export type Options<[\s\S]*?^\};\n\n/m, '');
  if (replaced.includes('./client/') || /^export type Options/m.test(replaced))
    throw new StartError('@hey-api/openapi-ts has changed what it writes: adapt withOwnClient in src/cli/client.ts.');
  return replaced;
}

interface OpenApi {
  paths: Record<string, Record<string, { parameters?: { $ref?: string; name?: string }[] }>>;
  components: { parameters?: Record<string, { name: string }> };
}

/** The paths whose POST has an `Idempotency-Key`, so that it can be repeated. */
function idempotentPathsOf(document: string): string {
  const { paths, components }: OpenApi = JSON.parse(document);
  const nameOf = ({ $ref = '', name }: { $ref?: string; name?: string }) =>
    name ?? components.parameters?.[$ref.split('/').at(-1) ?? '']?.name;
  const found = Object.keys(paths).filter((path) =>
    paths[path]?.['post']?.parameters?.some((parameter) => nameOf(parameter) === 'Idempotency-Key'),
  );
  return `// Written by ./scanlog client.\n\nexport const idempotentPaths: readonly string[] = ${JSON.stringify(found)};\n`;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** What the generated files were made from and what they are, to find out whether they are behind. */
export async function sourcesOf(document: string): Promise<Record<string, string>> {
  const names = (await readdir(generated)).filter((name) => name !== sources).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(generated, name), 'utf8')));
  return {
    document: digestOf(document),
    generator: packageJson.devDependencies['@hey-api/openapi-ts'],
    files: digestOf(texts.join('\n')),
  };
}

/** Writes the client as one file that runs on every platform. */
export async function bundleClient(outdir: string): Promise<void> {
  const { success, logs } = await Bun.build({
    entrypoints: [join(folder, 'src/index.ts')],
    outdir,
    target: 'browser',
    format: 'esm',
  });
  if (!success) throw new StartError(`The client could not be built: ${logs.join('\n')}`);
}
