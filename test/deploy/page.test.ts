import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { readConfig, requireParts } from '../../src/config/config.ts';
import { freePort } from '../../src/stack/processes.ts';
import { createDatabase, uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { programOf, runProgram } from '../support/programs.ts';
import { type Running, runScanlog } from '../support/scanlog.ts';
import { removeStream } from '../support/streams.ts';
import { blocksOf, openShell } from './page-support.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(checkout, 'docs/deploy.md'), 'utf8');
const blocks = blocksOf(page);

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-page-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('docs/deploy.md', () => {
  test('names files that exist, and every block is valid for the shell', () => {
    const named = page.match(/\b(?:test\/)?deploy\/[\w./-]*\w/g) ?? [];
    for (const path of new Set(named)) expect(existsSync(join(checkout, path)), path).toBe(true);
    for (const { text } of blocks) expect(runProgram('sh', ['-n'], { input: text }), text).toMatchObject({ status: 0 });
  });

  test('gives no program a password or key as an argument, which every user of the machine could read', () => {
    for (const { text } of blocks) {
      // The shell itself writes here-documents and variables, and runs printf.
      const programs = text.replaceAll(/<<'?END'?\n[\s\S]*?\nEND\n/g, '\n').replaceAll(/printf .*?(\||>|$)/gm, '');
      expect(programs.replaceAll(/^\w+=\$\(.*$/gm, ''), text).not.toMatch(/secrets\/\w+\)|\$KEY|password=/);
    }
  });

  test('leads from nothing to a redirect, and from one server to servers of your own', async () => {
    const root = newFolder();
    for (const folder of ['etc/scanlog', 'root', 'var/lib/scanlog-backups'])
      mkdirSync(join(root, folder), { recursive: true });
    const { clickhouseUrl, natsUrl } = inject('stack');
    const database = await createDatabase('template1');
    cleanups.push(() => database.drop());
    const port = await freePort();
    const own = { HOST: '127.0.0.1', PORT: String(port), CLICKHOUSE_DATABASE: uniqueName(), NATS_STREAM: uniqueName() };
    cleanups.push(() => removeStream(own.NATS_STREAM));
    // The page as it is, in a temporary folder, without TLS, and with the servers of the tests instead of clusters.
    const inTest = (block: string) => {
      const text = block
        .replaceAll('/opt/scanlog', checkout)
        .replaceAll(/(?<=[ >])\/(?=etc\/|root\/|var\/)|(?<==)\/(?=etc\/|var\/)/g, `${root}/`)
        .replaceAll('https://qr.example.com', `http://127.0.0.1:${port}`)
        .replaceAll('http://127.0.0.1:3000', `http://127.0.0.1:${port}`)
        .replace('HOST=0.0.0.0', '')
        .replace('NATS_REPLICAS=3', '')
        .replace('CLICKHOUSE_CLUSTER=scanlog', '');
      const rest = text.replaceAll(root, '.').replaceAll(checkout, './');
      expect(rest, 'nothing outside the temporary folder is written').not.toMatch(/(?<![.\w])\/(etc|root|var|opt)\//);
      return text;
    };
    const { PATH = '', HOME = '' } = process.env;
    const shell = openShell({ PATH, HOME, ...own });
    cleanups.push(() => shell.close());
    const secret = (name: string) => join(root, 'etc/scanlog/secrets', name);
    const data = join(root, 'var/lib/scanlog');

    let service: Running | undefined;
    cleanups.push(() => service?.stop());
    const printed: string[] = [];
    for (const { section, byHand, text } of blocks) {
      if (byHand === undefined) printed.push(await shell.run(inTest(text)));
      if (text.includes('>/etc/nats-server.conf')) expectValidNats(join(root, 'etc/nats-server.conf'));
      if (text.includes('SCANLOG_COMMAND=serve')) {
        const { SECRET_KEY_FILE, ...settings } = environmentFile(join(root, 'etc/scanlog/scanlog.env'));
        expect(SECRET_KEY_FILE).toBe(secret('secret_key'));
        requireParts(readConfig({ ...settings, SECRET_KEY: 'f'.repeat(64) }));
        for (const [name, url] of Object.entries({
          database_url: database.url,
          nats_url: natsUrl,
          clickhouse_url: clickhouseUrl,
        }))
          writeFileSync(secret(name), url);
      }
      if (text.includes('systemctl stop scanlog')) await service?.stop();
      if (!text.includes('systemctl enable --now scanlog.service')) continue;
      if (section === 'One server') {
        service = runScanlog(['up', '--data', data, '--port', String(port)], { ...own, CLICKHOUSE_URL: clickhouseUrl });
        await service.prints('Ctrl-C stops everything');
      } else {
        service = runScanlog(['serve'], { ...environmentFile(join(root, 'etc/scanlog/scanlog.env')), ...own });
        await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
      }
    }

    const output = printed.join('\n');
    expect(output).toContain('"status":"ready"');
    expect(output).toContain('302 https://example.com/menu');
    expect(output, 'the account is listed before the move').toContain('My company');
    expect(output.match(/the log, the counters, the warehouse and the webhooks agree/g), 'verify').toHaveLength(2);
  });
});

function expectValidNats(file: string): void {
  // Without quotes, NATS reads a password that begins like 7e2 as a number, and does not start.
  expect(readFileSync(file, 'utf8')).toMatch(/password: "\w+"/);
  const { status, output } = runProgram(programOf('nats-server'), ['-t', '-c', file]);
  expect(status, output).toBe(0);
}

/** The variables of a file of systemd. */
const environmentFile = (file: string): Record<string, string> =>
  Object.fromEntries(
    [...readFileSync(file, 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
