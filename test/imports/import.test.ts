import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { block } from '../../src/codes/blocked-hosts.ts';
import { createClient } from '../../src/imports/client.ts';
import { importLinks } from '../../src/imports/import.ts';
import type { LinkPage, SourceLink } from '../../src/imports/link.ts';
import { sourceOf } from '../../src/imports/sources.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { command } from '../support/command.ts';
import { givenDomain } from '../support/domains.ts';
import { testBox } from '../support/secret-box.ts';
import { type TestAccount, testSecretKey, useService } from '../support/service.ts';
import { optionsFor } from './options.ts';
import { items } from './shapes.ts';

const service = useService({ projections: false });
const sql = () => service.database.sql;
let account: TestAccount;
const folder = mkdtempSync(join(tmpdir(), 'scanlog-import-'));
beforeAll(async () => {
  account = await service.account('enterprise');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function given(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function runImport(source: string, from: string, ...options: string[]) {
  const args = ['import', source, from, '--json', '--data', folder, ...options];
  if (!options.includes('--account')) args.push('--account', account.id);
  const { code, output } = await command(args, { DATABASE_URL: service.database.url, SECRET_KEY: testSecretKey });
  const lines = output.trim().split('\n');
  const parsed = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  return { code, output, links: parsed.slice(0, -1), totals: parsed.at(-1) };
}

const allCodes = (of = account.id) =>
  sql()`
    SELECT id, short_code, name, destination_url, tags, rules, version, imported_at, imported_scans FROM codes
    WHERE account = ${of} ORDER BY position`;

async function locationOf(shortCode: string, headers: Record<string, string> = {}): Promise<string | null> {
  const response = await fetch(`${service.urls[0]}/${shortCode}`, { redirect: 'manual', headers });
  return response.headers.get('location');
}

const none = { imported: 0, unchanged: 0, refused: 0, incomplete: 0, unlisted: 0 };
const numbers = Array.from({ length: 1_000 }, (_, i) => i);

describe('1,000 links', () => {
  test('of Bitly come in once, from two runs of a file, and redirect as before', async () => {
    const { id: owner } = await service.account('enterprise');
    const rows = numbers.map(
      (i) => `https://bit.ly/Bit-${i},https://example.com/${i},Link ${i},"a,b",2020-05-01T12:00:00+0000,${i}`,
    );
    const file = given('bitly.csv', ['Bitlink,Long URL,Title,Tags,Created,Total Clicks', ...rows].join('\n'));
    const first = await runImport('bitly', file, '--account', owner);
    expect([first.code, first.totals]).toEqual([0, { ...none, dry_run: false, imported: 1_000 }]);
    const before = await allCodes(owner);
    expect(before).toHaveLength(1_000);
    const again = await runImport('bitly', file, '--account', owner);
    expect([again.code, again.totals]).toEqual([0, { ...none, dry_run: false, unchanged: 1_000 }]);
    expect(await allCodes(owner)).toEqual(before);
    for (const i of [0, 99, 100, 999]) expect(await locationOf(`Bit-${i}`)).toBe(`https://example.com/${i}`);
  });

  test('of the API of Shlink come in once, after a cut too, with their rules', async () => {
    const { id: owner } = await service.account('enterprise');
    const api = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        const page = Number(new URL(url).searchParams.get('page'));
        const data = numbers.slice((page - 1) * 100, page * 100).map((i) => ({
          ...items.shlink.item,
          shortCode: `shl-${i}`,
          longUrl: `https://example.com/${i}`,
          deviceLongUrls: { ios: 'https://example.com/ios', android: null },
        }));
        return Response.json({ shortUrls: { data, pagination: { pagesCount: 10, totalItems: 1_000 } } });
      },
    });
    const client = createClient({ url: `http://localhost:${api.port}`, key: 'k', onPause: () => {} });
    /** The first `count` pages, then the connection is cut. */
    async function* cutAfter(count: number): AsyncGenerator<LinkPage> {
      let read = 0;
      for await (const page of sourceOf('shlink')?.pages?.(client) ?? []) {
        if (read++ === count) throw new Error('cut');
        yield page;
      }
    }
    const outcomesOf = async (pages: AsyncIterable<LinkPage>) => {
      const counts: Record<string, number> = {};
      for await (const { outcomes } of importLinks({ sql: sql(), box: testBox }, pages, optionsFor(owner, 'shlink')))
        for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
      return counts;
    };
    try {
      await expect(outcomesOf(cutAfter(4))).rejects.toThrow('cut');
      expect(await allCodes(owner)).toHaveLength(400);
      expect(await outcomesOf(cutAfter(10))).toEqual({ unchanged: 400, imported: 600 });
      expect(await outcomesOf(cutAfter(10))).toEqual({ unchanged: 1_000 });
    } finally {
      await api.stop(true);
    }
    expect(await allCodes(owner)).toHaveLength(1_000);
    const iPhone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile Safari/604.1';
    expect(await locationOf('shl-999')).toBe('https://example.com/999');
    expect(await locationOf('shl-999', { 'user-agent': iPhone })).toBe('https://example.com/ios');
  });
});

describe('an imported code', () => {
  let id: string;
  beforeAll(async () => {
    const file = given('one.csv', 'url,slug,clicks,created\nhttps://example.com/one,one-1,6409,2019-03-01\n');
    expect((await runImport('csv', file)).totals).toMatchObject({ imported: 1 });
    const [code] = await sql()<{ id: string }[]>`SELECT id FROM codes WHERE short_code = 'one-1'`;
    id = code?.id ?? '';
  });

  test('has its creation time and its old total apart from its scans', async () => {
    const { body } = await account.live.get(`/v1/qrcodes/${id}`);
    expect(body).toMatchObject({
      name: 'one-1',
      imported_at: '2019-03-01T00:00:00.000Z',
      imported_scans: 6409,
      total_scans: 0,
      unique_scans: 0,
    });
    const { body: history } = await account.live.get(`/v1/qrcodes/${id}/history`);
    expect(history.data.at(-1)).toMatchObject({
      event: 'code_created',
      key_id: 'operator',
      to: { imported_scans: 6409 },
    });
  });

  test('keeps both: no one can set or change them, and a copy has none', async () => {
    for (const fields of [{ imported_scans: 1 }, { imported_at: '2020-01-01T00:00:00Z' }]) {
      expect((await account.live.patch(`/v1/qrcodes/${id}`, fields)).status).toBe(400);
      const payload = { name: 'x', destination_url: 'https://example.com', ...fields };
      expect((await account.live.post('/v1/qrcodes', payload)).status).toBe(400);
    }
    expect((await account.live.patch(`/v1/qrcodes/${id}`, { note: 'Menu' })).status).toBe(200);
    expect((await account.live.get(`/v1/qrcodes/${id}`)).body).toMatchObject({ note: 'Menu', imported_scans: 6409 });
    const { body: copy } = await account.live.post(`/v1/qrcodes/${id}/duplicate`, { name: 'Copy' });
    expect((await account.live.get(`/v1/qrcodes/${copy.id}`)).body).not.toHaveProperty('imported_scans');
  });

  test('is the same after a replay of the log', async () => {
    const before = await allCodes();
    await replayState(sql());
    expect(await allCodes()).toEqual(before);
  });
});

describe('what cannot be taken', () => {
  const table = [
    'destination_url,short_code,title,tags,created',
    'https://example.com/ok,fine-1,Fine,,',
    'https://example.com/short,a,,,',
    'ftp://example.com,ftp-1,,,',
    'https://sub.blocked.test/,blocked-1,,,',
    'https://example.com/taken,Taken-1,,,',
    'https://example.com/twice,FINE-1,,,',
    `https://example.com/tags,tags-1,,${'x'.repeat(51)},05/01/2020`,
  ].join('\n');

  test('is listed with its reason, the rest comes, and the exit code is 1', async () => {
    await block(sql(), 'blocked.test', new Date());
    await account.live.post('/v1/qrcodes', {
      name: 'T',
      destination_url: 'https://example.com',
      short_code: 'taken-1',
    });
    const file = given('mixed.csv', table);
    const count = (await allCodes()).length;
    const dry = await runImport('csv', file, '--dry-run');
    expect(await allCodes()).toHaveLength(count);
    const real = await runImport('csv', file);
    expect(real.code).toBe(1);
    expect(real.totals).toEqual({ ...none, dry_run: false, imported: 2, refused: 5, incomplete: 1 });
    expect(dry.totals).toEqual({ ...real.totals, dry_run: true });
    const reasonsOf = (links: { link: string; reasons: string[] }[]) =>
      Object.fromEntries(links.map(({ link, reasons }) => [link, reasons.join('; ')]));
    expect(reasonsOf(real.links)).toEqual({
      a: expect.stringContaining('short code "a" must have 3 to 50'),
      'ftp-1': expect.stringContaining('destination must be an absolute URL'),
      'blocked-1': expect.stringContaining('must not lead to blocked.test'),
      'Taken-1': expect.stringContaining('is taken by "taken-1", which differs only in case'),
      'FINE-1': 'short_code "FINE-1" is taken by fine-1 of this import',
      'tags-1': expect.stringMatching(/tags.* must have 1 to 50 characters; creation time "05\/01\/2020" is not/),
    });
    // A dry run also lists what would come.
    expect(reasonsOf(dry.links)).toEqual({ ...reasonsOf(real.links), 'fine-1': '' });
  });

  test('is the second of two links with one short code, unless both are the same, in the same batch or a later one', async () => {
    const { id: owner } = await service.account('enterprise');
    const between = numbers.slice(0, 150).map((i) => `https://example.com/${i},between-${i}`);
    const twice = ['https://example.com/a,twice-1', 'https://example.com/a,twice-1', 'https://example.com/b,twice-1'];
    const bad = ['https://example.com/bad,x', 'https://example.com/bad,x'];
    const rows = ['url,slug', ...twice, ...bad, ...between, ...twice.slice(1), ...bad];
    const file = given('twice.csv', rows.join('\n'));
    const expected = { ...none, imported: 151, unchanged: 2, refused: 6 };
    const dry = await runImport('csv', file, '--account', owner, '--dry-run');
    const real = await runImport('csv', file, '--account', owner);
    expect(real.totals).toEqual({ ...expected, dry_run: false });
    expect(dry.totals).toEqual({ ...expected, dry_run: true });
    expect(real.links[0].reasons).toEqual(['it is in this import twice, first with https://example.com/a']);
  });

  test('by the quota of the plan is refused, in a dry run too', async () => {
    const { id: free } = await service.account('free');
    const rows = numbers.slice(0, 250).map((i) => `https://example.com/${i},quota-${i}`);
    const file = given('quota.csv', ['url,slug', ...rows].join('\n'));
    const dry = await runImport('csv', file, '--account', free, '--dry-run');
    const real = await runImport('csv', file, '--account', free);
    expect(real.totals.imported).toBeGreaterThan(0);
    expect(real.totals.imported + real.totals.refused).toBe(250);
    expect(dry.totals).toEqual({ ...real.totals, dry_run: true });
    expect(await allCodes(free)).toHaveLength(real.totals.imported);
    expect(real.links.at(-1).reasons[0]).toMatch(/^The free plan allows/);
  });
});

test('a JSON file has entries or pages of the API, and a table may be in UTF-16, but in no unknown encoding', async () => {
  const { id: owner } = await service.account('enterprise');
  const { item } = items.kutt;
  const page = { total: 1, data: [{ ...item, address: 'json-1' }] };
  const file = given('kutt.json', JSON.stringify([page, { ...item, address: 'json-2' }]));
  expect((await runImport('kutt', file, '--account', owner)).totals).toMatchObject({ imported: 2, refused: 0 });
  const wide = given('wide.csv', '');
  writeFileSync(wide, Buffer.from('\ufeffurl\tslug\tname\nhttps://example.com/\twide-1\tMenü\n', 'utf16le'));
  expect((await runImport('csv', wide, '--account', owner)).totals).toMatchObject({ imported: 1 });
  expect((await allCodes(owner)).map((code) => code['name'])).toEqual(['Menu', 'Menu', 'Menü']);
  writeFileSync(wide, Buffer.from('url,name\nhttps://example.com/,Menü\n', 'latin1'));
  expect((await runImport('csv', wide, '--account', owner)).output).toContain('is not a text file in UTF-8');
});

test('links come to the given domain, or stay on their own if the account has it', async () => {
  const owner = await service.account('enterprise');
  const options = ['--account', owner.id];
  const file = given('domain.csv', 'Short link,url\nhttps://go.imported.test/menu,https://example.com/menu\n');
  const refused = await runImport('csv', file, ...options, '--domain', 'go.imported.test');
  expect([refused.code, refused.output]).toEqual([
    1,
    expect.stringContaining(`go.imported.test is not an active domain of ${owner.id}`),
  ]);
  await givenDomain(service, owner.id, 'go.imported.test');
  await givenDomain(service, owner.id, 'other.imported.test');
  expect((await runImport('csv', file, ...options)).code).toBe(0);
  const other = given('other.csv', 'slug,url\nmenu,https://example.com/other\n');
  expect((await runImport('csv', other, ...options, '--domain', 'other.imported.test')).code).toBe(0);
  expect((await allCodes(owner.id)).map((code) => code['short_code'])).toEqual([
    'go.imported.test/menu',
    'other.imported.test/menu',
  ]);
  expect(await locationOf('menu', { host: 'go.imported.test' })).toBe('https://example.com/menu');
  expect(await locationOf('menu', { host: 'other.imported.test' })).toBe('https://example.com/other');
});

test('two imports of the same links at a time make no doubles', async () => {
  const { id: owner } = await service.account('enterprise');
  const links = numbers.slice(0, 60).map(
    (i): SourceLink => ({
      id: `same-${i}`,
      destination: `https://example.com/${i}`,
      tags: [],
      rules: [],
      unsupported: [],
    }),
  );
  async function* page(): AsyncGenerator<LinkPage> {
    yield { links };
  }
  const run = async () => {
    for await (const _ of importLinks({ sql: sql(), box: testBox }, page(), optionsFor(owner, 'csv')));
  };
  await Promise.all([run(), run(), run()]);
  expect(await allCodes(owner)).toHaveLength(60);
});

test.each([
  [['csv', 'missing.csv'], 'missing.csv cannot be read'],
  [['csv', 'https://example.com'], 'csv is read from a file, not from a URL.'],
  [['kutt', 'https://example.com'], 'The API needs a key: set IMPORT_KEY, or pass --key.'],
  [['tinyurl', 'x.csv'], 'must be one of'],
])('%j is explained', async ([source = '', from = ''], message) => {
  const { code, output } = await runImport(source, from);
  expect([code, output]).toEqual([1, expect.stringContaining(message)]);
});
