import { describe, expect, test } from 'vitest';
import { type IpRanges, parseRanges } from '../../src/lib/ip-range.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { freePort } from '../../src/stack/processes.ts';
import { created, type Json } from '../support/api.ts';
import { useDns } from '../support/dns-server.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { useTimeouts } from '../support/timeouts.ts';

// Faults of the DNS wait for this timeout, twice; no response of the test's server takes as long.
useTimeouts({ dnsQueryMs: 2_000 });

const dns = useDns();
const port = await freePort();
let now = new Date();
const later = (hours: number) => {
  now = new Date(now.getTime() + hours * 3_600_000);
};
const service = useService({
  clock: () => now,
  alertPollMs: 100,
  config: {
    port,
    publicUrl: `http://qr.test:${port}`,
    domainTarget: 'links.qr.test',
    domainAllowedCidrs: parseRanges('127.0.0.1, 127.0.0.3') as IpRanges,
    // The same array, which gets its entry when the server listens.
    dnsServers: dns.servers,
  },
});

let lastName = 0;
const newName = () => `go${++lastName}.acme.test`;
const tokenOf = ({ records }: Json) => records[0].value as string;

async function add({ live }: TestAccount, name: string): Promise<Json> {
  const { status, body } = await live.post('/v1/domains', { name });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Sets the records that prove a claim. */
function prove(...domains: Json[]): void {
  const [{ name }] = domains as [Json];
  dns.set(name, { CNAME: 'links.qr.test' });
  dns.set('links.qr.test', { A: ['127.0.0.1'] });
  dns.set(`_scanlog.${name}`, { TXT: domains.map(tokenOf) });
}

const verify = ({ live }: TestAccount, { id }: Json) => live.post(`/v1/domains/${id}/verify`, {});
const read = async ({ live }: TestAccount, { id }: Json) => (await live.get(`/v1/domains/${id}`)).body;

async function addProved(account: TestAccount, name = newName()): Promise<Json> {
  const domain = await add(account, name);
  prove(domain);
  const { body } = await verify(account, domain);
  expect(body).toMatchObject({ status: 'active', problems: [] });
  return domain;
}

describe('a domain', () => {
  test('is claimed, refused while its proof is missing, verified, changed and removed', async () => {
    const account = await service.account();
    const { live } = account;
    const name = newName();
    const claimed = await add(account, ` ${name.toUpperCase()}. `);
    expect(claimed).toEqual({
      id: expect.stringMatching(/^dom_/),
      name,
      status: 'pending',
      records: [
        {
          type: 'TXT',
          name: `_scanlog.${name}`,
          value: expect.stringMatching(/^scanlog-verify=[1-9A-HJ-NP-Za-km-z]{26}$/),
        },
        { type: 'CNAME', name, value: 'links.qr.test' },
      ],
      root_url: null,
      not_found_url: null,
      expired_url: null,
      app_links: null,
      primary: false,
      codes: 0,
      problems: [],
      created_at: now.toISOString(),
      checked_at: null,
    });

    const missing = (await verify(account, claimed)).body;
    expect(missing).toMatchObject({ status: 'pending', checked_at: now.toISOString() });
    expect(missing.problems).toEqual([
      {
        check: 'txt',
        expected: expect.stringContaining(tokenOf(claimed)),
        found: `We found no TXT record at _scanlog.${name}. A new record can take an hour until it is found.`,
      },
      {
        check: 'reach',
        expected: expect.stringContaining('links.qr.test'),
        found: `We found no address for ${name}. A new record can take an hour until it is found.`,
      },
    ]);

    prove(claimed);
    expect((await verify(account, claimed)).body).toMatchObject({ status: 'active', problems: [] });

    const settings = {
      root_url: 'https://example.com/',
      expired_url: 'https://example.com/over',
      app_links: {
        apple: { applinks: { details: [{ appIDs: ['A.b'], components: [{ '/': '/*' }] }] } },
        android: [{ relation: ['delegate_permission/common.handle_all_urls'], target: { namespace: 'web' } }],
      },
      primary: true,
    };
    const changed = await live.patch(`/v1/domains/${claimed.id}`, settings);
    expect(changed.body).toMatchObject({ ...settings, not_found_url: null, status: 'active' });
    later(0.001);
    const other = await add(account, newName());
    await live.patch(`/v1/domains/${other.id}`, { primary: true });
    expect(await read(account, claimed), 'there is one primary domain').toMatchObject({ primary: false });
    expect((await live.get('/v1/domains')).body).toMatchObject({
      data: [
        { id: claimed.id, root_url: settings.root_url },
        { id: other.id, primary: true },
      ],
      pagination: { total: 2 },
    });

    expect((await live.delete(`/v1/domains/${claimed.id}`)).body).toEqual({ deleted: true, id: claimed.id });
    expect((await live.get(`/v1/domains/${claimed.id}`)).status).toBe(404);
    expect((await live.delete(`/v1/domains/${claimed.id}`)).status).toBe(404);
    expect((await verify(account, claimed)).status).toBe(404);
    const types = await eventually(async () => {
      const { data } = (await live.get('/v1/account/audit?limit=100')).body;
      const found = data.map(({ type }: Json) => type).filter((type: string) => type.startsWith('domain.'));
      expect(found).toContain('domain.removed');
      return found.toReversed();
    });
    expect(types).toEqual(['domain.added', 'domain.verified', 'domain.updated', 'domain.added', 'domain.removed']);
  });

  test('belongs to its account and to live keys', async () => {
    const [account, stranger] = [await service.account(), await service.account()];
    const domain = await add(account, newName());
    const path = `/v1/domains/${domain.id}`;
    for (const response of [
      await stranger.live.get(path),
      await stranger.live.patch(path, { root_url: null }),
      await stranger.live.delete(path),
      await stranger.live.post(`${path}/verify`, {}),
      await account.live.get('/v1/domains/dom_none'),
    ])
      expect(response.status).toBe(404);
    for (const response of [
      await account.test.get('/v1/domains'),
      await account.test.get(path),
      await account.test.post('/v1/domains', { name: newName() }),
      await account.test.patch(path, { root_url: null }),
      await account.test.delete(path),
      await account.test.post(`${path}/verify`, {}),
    ])
      expect([response.status, response.body.error.code]).toEqual([403, 'live_key_required']);
  });

  test('is refused if it is an address, a public suffix or a host of the service', async () => {
    const { live } = await service.account();
    for (const name of ['127.0.0.1', 'localhost', 'co.uk', 'QR.test', 'links.qr.test', `${'a.'.repeat(130)}com`]) {
      const { status, body } = await live.post('/v1/domains', { name });
      expect([status, body.error.details?.[0]?.field], name).toEqual([400, 'name']);
    }
  });

  test('counts its codes, without codes of others that begin alike', async () => {
    const account = await service.account();
    const [domain, alike] = [await addProved(account), await addProved(account, `x-${newName()}`)];
    const first = await created(account.live, { domain: domain.name });
    await created(account.live, { domain: domain.name });
    await created(account.live, { domain: alike.name });
    await created(account.live);
    expect([(await read(account, domain)).codes, (await read(account, alike)).codes]).toEqual([2, 1]);
    await account.live.delete(`/v1/qrcodes/${first.id}`);
    expect((await read(account, domain)).codes).toBe(1);
  });

  test('has settings that follow the rules of destinations', async () => {
    const account = await service.account();
    const domain = await add(account, newName());
    const change = (body: Json) => account.live.patch(`/v1/domains/${domain.id}`, body);
    let nested: Json = {};
    for (let i = 0; i < 20; i++) nested = { nested };
    for (const [field, value] of [
      ['root_url', 'ftp://example.com'],
      ['not_found_url', `http://qr.test:${port}/menu`],
      ['expired_url', `http://${domain.name}:${port}/menu`],
      ['app_links', {}],
      ['app_links', { apple: { something: {} } }],
      ['app_links', { android: [{ relation: 'x', target: {} }] }],
      ['app_links', { apple: { applinks: { note: 'x'.repeat(65_536) } } }],
      ['app_links', { apple: { applinks: { note: '\u0000' } } }],
      ['app_links', { apple: { applinks: nested } }],
      ['primary', 'yes'],
      ['name', 'other.acme.test'],
    ]) {
      const { status, body } = await change({ [field as string]: value });
      expect(status, JSON.stringify(value).slice(0, 80)).toBe(400);
      expect(body.error.details[0].field).toMatch(new RegExp(`^${field}`));
    }
    expect((await change({})).status).toBe(400);
    expect((await change({ root_url: null })).body, 'changes nothing').toEqual(await read(account, domain));
  });

  test.each([
    ['free', 1],
    ['pro', 3],
  ] as const)('a %s account has %i of them, also if they are claimed at once', async (plan, limit) => {
    const account = await service.account(plan);
    for (let i = 1; i < limit; i++) await add(account, newName());
    const responses = await Promise.all(
      Array.from({ length: 3 }, () => account.live.post('/v1/domains', { name: newName() })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    const next = await account.live.post('/v1/domains', { name: newName() });
    expect([next.status, next.body.error.code]).toEqual([403, 'quota_exceeded']);
  });
});

describe('a proof', () => {
  const problemsOf = async (prepare: (domain: Json) => void): Promise<Record<string, string>> => {
    const account = await service.account();
    const domain = await add(account, newName());
    prove(domain);
    prepare(domain);
    const { body } = await verify(account, domain);
    expect(body.status).toBe(body.problems.length === 0 ? 'active' : 'pending');
    return Object.fromEntries(body.problems.map(({ check, found }: Json) => [check, found]));
  };
  const txt = (domain: Json, TXT: (string | string[])[]) => dns.set(`_scanlog.${domain.name}`, { TXT });

  test('needs the TXT record: a domain that only leads to the service proves nothing', async () => {
    expect(await problemsOf(({ name }) => dns.remove(`_scanlog.${name}`))).toEqual({
      txt: expect.stringContaining('found no TXT record'),
    });
  });

  test('needs the domain to lead to the service', async () => {
    expect(await problemsOf(({ name }) => dns.remove(name))).toEqual({ reach: expect.stringContaining('no address') });
  });

  test('can be among other TXT records, split into strings, or in quotation marks', async () => {
    expect(await problemsOf((domain) => txt(domain, ['v=spf1', tokenOf(domain), 'other']))).toEqual({});
    expect(await problemsOf((domain) => txt(domain, [['scanlog-', tokenOf(domain).slice(8)]]))).toEqual({});
    expect(await problemsOf((domain) => txt(domain, [`"${tokenOf(domain)}"`]))).toEqual({});
  });

  test('is not another value, of a wildcard or of another claim', async () => {
    const wildcard = await problemsOf(({ name }) => {
      dns.remove(`_scanlog.${name}`);
      dns.set(`*.${name}`, { TXT: ['v=spf1 \u202e-all'] });
    });
    expect(wildcard['txt']).toContain('"v=spf1 \u{FFFD}-all"');
    expect(wildcard['txt']).toContain('wildcard');
    const old = await problemsOf((domain) => txt(domain, ['scanlog-verify=old']));
    expect(old['txt']).toContain('another claim');
    const cut = await problemsOf((domain) => txt(domain, [tokenOf(domain).slice(0, -1), 'x'.repeat(200), 'a', 'b']));
    expect(cut['txt']).toContain('and 1 more');
  });

  test('is read over TCP where datagrams are too small', async () => {
    expect(await problemsOf(({ name }) => dns.fail(`_scanlog.${name}`, 'truncated'))).toEqual({});
  });

  test('is incomplete while the DNS is silent, forged or broken', async () => {
    for (const fault of ['silent', 'forged', 'servfail'] as const) {
      const problems = await problemsOf(({ name }) => {
        dns.fail(name, fault);
        dns.fail(`_scanlog.${name}`, fault);
      });
      const reason = fault === 'servfail' ? 'answered with the error SERVFAIL' : 'did not answer';
      expect(problems, fault).toEqual({
        txt: expect.stringContaining(reason),
        reach: expect.stringContaining(reason),
      });
    }
  });

  test('never leads the service to an address that is not public', async () => {
    for (const address of ['127.0.0.2', '10.0.0.1', '169.254.169.254'])
      expect(await problemsOf(({ name }) => dns.set(name, { A: [address] })), address).toEqual({
        reach: expect.stringContaining('not reachable from the internet'),
      });
  });
});

test('a domain that leads to another server is not proved, whatever that answers', async () => {
  let respond = (_: URL) => new Response('');
  const hosts: string[] = [];
  // The service listens on 127.0.0.1.
  const other = Bun.serve({
    hostname: '127.0.0.3',
    port,
    fetch(request) {
      hosts.push(request.headers.get('host') ?? '');
      return respond(new URL(request.url));
    },
  });
  async function* endless() {
    for (;;) yield 'a'.repeat(10_000);
  }
  const account = await service.account();
  const domain = await add(account, newName());
  prove(domain);
  dns.set(domain.name, { A: ['127.0.0.3'] });
  const behaviors: [string, typeof respond][] = [
    ['another server answers', ({ pathname }) => new Response(pathname.split('/').at(-1))],
    ['another server answers', () => new Response(endless as never)],
    ['with a redirect (308)', ({ pathname }) => Response.redirect(`http://127.0.0.1:${port}${pathname}`, 308)],
    ['with an error (404)', () => new Response('', { status: 404 })],
  ];
  try {
    for (const [words, next] of behaviors) {
      respond = next;
      const { body } = await verify(account, domain);
      expect(body.problems).toMatchObject([{ check: 'reach', found: expect.stringContaining(words) }]);
    }
    expect(new Set(hosts)).toEqual(new Set([`${domain.name}:${port}`]));
  } finally {
    await other.stop(true);
  }
  const { body } = await verify(account, domain);
  expect(body.problems).toMatchObject([{ found: expect.stringContaining('nothing there listens') }]);
});

describe('the response to a token', () => {
  const at = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
  const token = 'a'.repeat(26);

  test('is the same on every host, is not stored, and is not the token', async () => {
    const [one, other] = [
      await at(`/.well-known/scanlog/${token}`),
      await at(`/.well-known/scanlog/${token}`, { headers: { host: 'anything.test' } }),
    ];
    expect([one.status, one.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const body = await one.text();
    expect(body).toMatch(/^[0-9a-f]{64}$/);
    expect(await other.text()).toBe(body);
    expect(await (await at(`/.well-known/scanlog/${'b'.repeat(26)}`)).text()).not.toBe(body);
  });

  test.each(['short', `${'a'.repeat(27)}`, 'a'.repeat(25).concat('0'), '%00'])('%s is none', async (text) => {
    expect((await at(`/.well-known/scanlog/${text}`)).status).toBe(404);
  });
});

describe('another account', () => {
  test('cannot claim an active domain; its claim leads to a check, and a proof that is gone frees the domain', async () => {
    const [holder, next] = [await service.account(), await service.account()];
    const held = await addProved(holder);
    await holder.live.patch(`/v1/domains/${held.id}`, { primary: true });
    later(1);
    const refused = await next.live.post('/v1/domains', { name: held.name });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'domain_taken']);
    const { checked_at } = await read(holder, held);
    await eventually(async () => expect((await read(holder, held)).checked_at).not.toBe(checked_at));
    expect((await read(holder, held)).status, 'its proof is still there').toBe('active');

    // The domain lapses, and its new owner removes the old records.
    dns.remove(`_scanlog.${held.name}`);
    later(1);
    expect((await next.live.post('/v1/domains', { name: held.name })).status).toBe(409);
    await eventually(async () => expect(await read(holder, held)).toMatchObject({ status: 'failing' }));
    const claimed = await add(next, held.name);
    expect((await verify(next, claimed)).body.status, 'a CNAME that was left behind proves nothing').toBe('pending');
    expect((await read(holder, held)).status).toBe('failing');
    prove(claimed);
    expect((await verify(next, claimed)).body.status).toBe('active');
    expect((await holder.live.get(`/v1/domains/${held.id}`)).status).toBe(404);
    const { data } = (await holder.live.get('/v1/account/audit?limit=100')).body;
    const removal = data.find(({ type }: Json) => type === 'domain.removed');
    expect(removal.data).toEqual({ domain_id: held.id, name: held.name, reason: 'claimed' });
    const [{ primary_domain }] = await service.database.sql<[{ primary_domain: string | null }]>`
      SELECT primary_domain FROM accounts WHERE id = ${holder.id}`;
    expect(primary_domain).toBe(null);
  });

  test('has a claim beside a pending one, and one of two that are proved at once gets the domain', async () => {
    const [a, b] = [await service.account(), await service.account()];
    const name = newName();
    const [first, second] = [await add(a, name), await add(b, name)];
    prove(first, second);
    const responses = await Promise.all([verify(a, first), verify(b, second)]);
    const lost = responses.filter(({ status }) => status !== 200);
    expect(lost.map(({ status, body }) => [status, body.error.code])).toEqual([[409, 'domain_taken']]);
    const states = [await read(a, first), await read(b, second)];
    expect(states.map(({ status }) => status).toSorted()).toEqual(['active', 'pending']);
    expect(states.find(({ status }) => status === 'pending').problems).toMatchObject([{ check: 'claim' }]);
  });

  test('cannot claim a domain within 30 days of its removal, unless it was never proved', async () => {
    const [account, other] = [await service.account(), await service.account()];
    const domain = await addProved(account);
    const unproved = await add(account, newName());
    for (const { id } of [domain, unproved]) await account.live.delete(`/v1/domains/${id}`);
    await add(other, unproved.name);
    const refused = await other.live.post('/v1/domains', { name: domain.name });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'domain_taken']);
    const again = await add(account, domain.name);
    expect(tokenOf(again), 'each claim has a token of its own').not.toBe(tokenOf(domain));
    await account.live.delete(`/v1/domains/${again.id}`);
    later(24 * 30);
    await add(other, domain.name);
  });

  test('the same account claims a name once', async () => {
    const account = await service.account();
    const { name } = await add(account, newName());
    const again = await account.live.post('/v1/domains', { name });
    expect([again.status, again.body.error.code]).toEqual([409, 'domain_taken']);
  });
});

describe('checks', () => {
  test('by themselves: a claim for 72 hours, then a domain every day', async () => {
    const account = await service.account();
    const [domain, forgotten] = [await add(account, newName()), await add(account, newName())];
    const nextOf = async ({ id }: Json) => {
      const [row] = await service.database.sql<{ next_at: Date | null }[]>`
        SELECT next_at FROM domain_checks WHERE domain = ${id}`;
      return row?.next_at;
    };
    prove(domain);
    expect(await nextOf(domain)).toEqual(new Date(now.getTime() + 600_000));
    later(1);
    await eventually(async () => expect((await read(account, domain)).status).toBe('active'));
    await eventually(async () => expect(await nextOf(forgotten)).toEqual(new Date(now.getTime() + 600_000)));
    const hours = (((await nextOf(domain)) as Date).getTime() - now.getTime()) / 3_600_000;
    expect(hours).toBeGreaterThanOrEqual(22);
    expect(hours).toBeLessThanOrEqual(26);

    await account.live.post('/v1/alerts', { kind: 'domain_failing' });
    const raised = async () => (await account.live.get('/v1/alerts/raised')).body.data;
    later(72);
    dns.remove(`_scanlog.${domain.name}`);
    await eventually(async () => expect(await read(account, domain)).toMatchObject({ status: 'failing' }));
    later(0.1);
    await eventually(async () =>
      expect(await raised()).toMatchObject([
        { kind: 'domain_failing', domain_id: domain.id, message: expect.stringContaining('no TXT record') },
      ]),
    );
    await eventually(async () => expect(await nextOf(forgotten)).toBe(null));
    prove(domain);
    later(27);
    await eventually(async () => expect(await read(account, domain)).toMatchObject({ status: 'active', problems: [] }));
    later(0.1);
    await eventually(async () => expect(await raised()).toEqual([]));
  });

  test('by themselves let a domain fail only if the DNS does not answer twice in a row', async () => {
    const account = await service.account();
    const domain = await addProved(account);
    dns.fail(`_scanlog.${domain.name}`, 'servfail');
    later(27);
    await eventually(async () => expect((await read(account, domain)).problems).toHaveLength(1));
    expect((await read(account, domain)).status, 'after the first').toBe('active');
    later(1);
    await eventually(async () => expect((await read(account, domain)).status).toBe('failing'));
  });

  test('on demand are limited for each account', async () => {
    const account = await service.account();
    const domain = await add(account, newName());
    await service.database.sql`
      INSERT INTO rate_windows (subject, started_at, used) VALUES (${`${account.id}/domain-checks`}, now(), 9)`;
    expect((await verify(account, domain)).status, 'the tenth').toBe(200);
    const { status, body, headers } = await verify(account, domain);
    expect([status, body.error.code]).toEqual([429, 'rate_limited']);
    expect(body.error.message).toContain('checks of domains');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

test('a replay of the log finds every domain as it is', async () => {
  const account = await service.account();
  await addProved(account);
  await account.live.delete(`/v1/domains/${(await addProved(account)).id}`);
  expect((await replayState(service.database.sql)).corrected).toBe(0);
});
