import { describe, expect, test } from 'vitest';
import { readStream } from '../../src/log/read.ts';
import type { Api } from '../support/api.ts';
import { givenDomain } from '../support/domains.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

describe('an upload of links of another service', () => {
  const upload = async (api: Api, query: string, body: string, type = 'text/csv') => {
    const answer = await api.send(`/v1/qrcodes/import${query}`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    const lines =
      answer.status === 200
        ? answer.text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [];
    return { status: answer.status, error: answer.body.error, links: lines.slice(0, -1), totals: lines.at(-1) };
  };
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => `https://bit.ly/up-${i},https://example.com/${i},a`);
  const bitly = (lines: string[]) => ['Bitlink,Long URL,Color', ...lines].join('\n');

  test('creates nothing in a dry run, then each link once, and names every one', async () => {
    const { live, id } = await service.account();
    const file = bitly([...rows(250), 'https://bit.ly/a,https://example.com,b']);
    const totals = {
      source: 'bitly',
      imported: 250,
      unchanged: 0,
      refused: 1,
      incomplete: 0,
      unread_columns: ['Color'],
    };
    const dry = await upload(live, '?dry_run=true', file);
    expect(dry.totals).toEqual({ ...totals, dry_run: true });
    expect(dry.links[0]).toMatchObject({ outcome: 'imported', qr_id: null, short_url: `${service.urls[0]}/up-0` });
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(0);

    const real = await upload(live, '', file);
    expect(real.totals).toEqual({ ...totals, dry_run: false });
    expect(real.links.at(-1)).toMatchObject({ link: 'bit.ly/a', outcome: 'refused', qr_id: null });
    expect(real.links.at(-1).reasons[0]).toContain('short code "a"');
    const [{ qr_id, link, destination_url }] = real.links;
    expect([link, destination_url]).toEqual(['bit.ly/up-0', 'https://example.com/0']);
    const answer = await fetch(`${service.urls[0]}/up-0`, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe('https://example.com/0');
    const [created] = await readStream(service.database.sql, qr_id);
    expect(created).toMatchObject({ actor: expect.stringMatching(/^key_/), data: { account: id } });

    const again = await upload(live, '?source=bitly', file);
    expect(again.totals).toMatchObject({ imported: 0, unchanged: 250, refused: 1 });
    expect(again.links[0]).toMatchObject({ outcome: 'unchanged', qr_id });
  });

  test('takes JSON and a domain of the account, and no other domain', async () => {
    const { live, id } = await service.account();
    const { name } = await givenDomain(service, id, 'upload.example.com');
    const item = { address: 'up-json', target: 'https://example.com/', description: 'Menu', visit_count: 3 };
    const file = JSON.stringify([{ total: 1, data: [item] }]);
    const { links, totals } = await upload(live, `?domain=${name}`, file, 'application/json');
    expect(totals).toMatchObject({ source: 'kutt', imported: 1 });
    const { body } = await live.get(`/v1/qrcodes/${links[0].qr_id}`);
    expect(body).toMatchObject({ domain: name, short_code: 'up-json', imported_scans: 3 });
    const other = await upload(live, '?domain=other.example.com', file, 'application/json');
    expect([other.status, other.error.details[0].field]).toEqual([400, 'domain']);
  });

  test('is bounded by the plan, in a dry run too', async () => {
    const { live } = await service.account('free');
    const file = bitly(rows(120).map((row) => row.replace('/up-', '/plan-')));
    for (const query of ['?dry_run=true', '']) {
      const { totals, links } = await upload(live, query, file);
      expect(totals, query).toMatchObject({ imported: 100, refused: 20 });
      expect(links.at(-1).reasons[0]).toMatch(/^The free plan allows 100 QR codes/);
    }
  });

  test.each([
    ['text/csv', 'Name\nMenu', 400, 'one of them for the destination'],
    ['text/csv', 'url,slug\nhttps://example.com,"open', 400, 'The quote in line 2 of the file is not closed.'],
    ['text/csv', '', 400, 'The file is empty.'],
    ['application/json', '{', 400, 'The file is not JSON'],
    ['application/json', '{"a": 1}', 400, 'name it in source'],
    ['text/csv', `url\n${'https://example.com\n'.repeat(10_001)}`, 400, 'more than 10,000 links'],
    ['text/csv', 'x'.repeat(4 * 1024 * 1024 + 1), 413, 'at most 4 MiB'],
    ['text/plain', 'url', 415, 'text/csv or application/json'],
  ])('refuses a %s file with an error as a whole', async (type, body, status, message) => {
    const { live } = await service.account();
    const answer = await upload(live, '', body, type);
    expect([answer.status, answer.error.message]).toEqual([status, expect.stringContaining(message)]);
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(0);
  });

  test('lists links that no code can have as refused', async () => {
    const { live } = await service.account();
    const rows = [
      `long-host,${'x'.repeat(5_000)}.example,https://example.com/`,
      'nul-\0-1,a.example,https://example.com/',
    ];
    const { status, links, totals } = await upload(live, '', ['slug,domain,url', ...rows].join('\n'));
    expect([status, totals]).toEqual([200, expect.objectContaining({ imported: 0, refused: 2 })]);
    expect(links[0].reasons).toEqual(['its short link has more than 400 characters']);
    expect(links[1].reasons[0]).toContain('must have 3 to 50 letters');
  });

  test('needs a live key, and one import of an account runs at a time', async () => {
    const { live, test: testApi } = await service.account();
    expect((await upload(testApi, '?dry_run=true', bitly(rows(1)))).error.code).toBe('live_key_required');
    const file = bitly(rows(1_000).map((row) => row.replace('/up-', '/one-')));
    const answers = await atOnce(3, () => upload(live, '', file));
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    expect(done.reduce((sum, { totals }) => sum + totals.imported, 0)).toBe(1_000);
    for (const { status, error } of answers)
      if (status !== 200) expect([status, error.code]).toEqual([409, 'conflict']);
  });

  test('whose client goes away ends after its batch, and the next one continues it', async () => {
    const { live, keys } = await service.account();
    const file = bitly(rows(3_000).map((row) => row.replace('/up-', '/gone-')));
    const abort = new AbortController();
    const answer = await fetch(`${service.urls[0]}/v1/qrcodes/import`, {
      method: 'POST',
      body: file,
      headers: { 'content-type': 'text/csv', authorization: `Bearer ${keys.live}` },
      signal: abort.signal,
    });
    await answer.body?.getReader().read();
    abort.abort();
    await eventually(async () => {
      const { status, totals } = await upload(live, '', file);
      expect([status, totals?.imported + totals?.unchanged]).toEqual([200, 3_000]);
    });
  });
});
