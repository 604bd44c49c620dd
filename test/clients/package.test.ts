import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleClient, sourcesOf } from '../../src/cli/client.ts';
import { newSigningSecret } from '../../src/webhooks/secrets.ts';
import { signedHeaders } from '../../src/webhooks/signature.ts';
import { deno } from '../support/deno.ts';
import { examplesIn, writeExamples } from '../support/readme-examples.ts';
import { useService } from '../support/service.ts';

const service = useService();
const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'clients/typescript');
const examples = examplesIn(join(source, 'README.md'));

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-client-'));
  beforeAll(async () => {
    const installed = join(folder, 'node_modules/@scanlog/client');
    await bundleClient(join(installed, 'dist'));
    writeFileSync(join(installed, 'package.json'), readFileSync(join(source, 'package.json')));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    await writeExamples(folder, examples);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is generated from the API as it is: if this fails, run ./scanlog client', async () => {
    const document = await (await fetch(`${service.urls[0]}/openapi.json`)).text();
    const generatedFrom = JSON.parse(readFileSync(join(source, 'src/generated/sources.json'), 'utf8'));
    expect(generatedFrom, 'clients/typescript is behind the API: run ./scanlog client').toEqual(
      await sourcesOf(document),
    );
  });

  test('has less than 20 kB with everything, and what is not imported is left out', async () => {
    const bytesOf = async (imported: string) => {
      const entry = join(folder, 'entry.ts');
      writeFileSync(entry, `export { ${imported} } from '@scanlog/client';`);
      const built = await Bun.build({ entrypoints: [entry], minify: true, target: 'browser' });
      return (await built.outputs[0]?.text())?.length ?? Number.NaN;
    };
    const index = join(folder, 'node_modules/@scanlog/client/dist/index.js');
    const all = await Bun.build({ entrypoints: [index], minify: true, target: 'browser' });
    expect((await all.outputs[0]?.text())?.length).toBeLessThan(20_000);
    expect(await bytesOf('Scanlog, createQrCode')).toBeLessThan(5_000);
    expect(await bytesOf('verifyWebhook')).toBeLessThan(2_000);
  });

  test('has types with which every example of its README compiles', async () => {
    const typed = join(folder, 'typed');
    for (const [i, code] of [...examples.values()].entries()) await Bun.write(join(typed, `${i}.ts`), code);
    const compilerOptions = {
      typeRoots: [join(root, 'node_modules')],
      paths: { '@scanlog/client': [join(source, 'src/index.ts')] },
      noPropertyAccessFromIndexSignature: false,
      noUnusedLocals: false,
    };
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['.'], exclude: [] };
    await Bun.write(join(typed, 'tsconfig.json'), JSON.stringify(config));
    const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', typed];
    const { stdout } = await promisify(execFile)(process.execPath, ['--bun', ...tsc]).catch((error) => error);
    expect(stdout).toBe('');
  });

  const runtimes: [name: string, command: string, args: string[]][] = [
    ['Node.js', 'node', []],
    ['Bun', process.execPath, []],
    ['Deno', deno, ['run', '--no-lock', '--no-remote', '--node-modules-dir=manual', '--allow-all']],
  ];
  test.each(runtimes)('runs every example of its README on %s', async (runtime, command, args) => {
    const { keys } = await service.account();
    const secret = newSigningSecret();
    const cwd = join(folder, runtime);
    mkdirSync(cwd);
    const event = JSON.stringify({ type: 'scan.created', timestamp: '2026-03-01T09:30:00.000Z', data: {} });
    const headers = signedHeaders({ id: 'evt_1', at: new Date(), body: event, secrets: [newSigningSecret(), secret] });
    const { stdout } = await promisify(execFile)(command, [...args, join(folder, 'run.js')], {
      cwd,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        SCANLOG_KEY: keys.live,
        SCANLOG_URL: service.urls[0],
        WEBHOOK_SECRET: secret,
        PORT: '0',
        EXAMPLES: JSON.stringify([...examples.keys()]),
        SIGNED: JSON.stringify([
          { headers, body: event },
          { headers, body: event.replace('scan', 'code') },
        ]),
      },
    });
    const printed = stdout.split(/^## .*\n/m).slice(1);
    expect(printed).toEqual([
      expect.stringMatching(/^http\S+ leads to https:\/\/example.com\/menu$/m),
      'The same printed code now leads to https://example.com/summer\n',
      '12 codes, the last one is Table 12\n',
      expect.stringMatching(/^Menu 0\n[\s\S]*Table 2 0\n[\s\S]*Table 12 0\n14 active codes\n$/),
      expect.stringMatching(/^poster.svg is of the type image\/svg\+xml/),
      '0 scans by 0 visitors, 0 of them on iPhones\n',
      expect.stringMatching(/^invalid_request: name: name must /),
      'the same code\n',
      expect.stringMatching(/^code.created at \S+Z, next time after 36 characters of cursor\n$/),
      expect.stringMatching(
        /^received scan.created\nanswered 204 \nanswered 400 WebhookVerificationError: The signature/,
      ),
    ]);
    expect(printed).toHaveLength(examples.size);
    expect(readFileSync(join(cwd, 'poster.svg'), 'utf8')).toContain('<svg');
  });
});
