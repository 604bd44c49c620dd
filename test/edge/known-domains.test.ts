import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { AccountDomainEvent, Domain } from '../../events/domain.ts';
import type { Recorded } from '../../events/recorded.ts';
import { DomainHosts } from '../../src/edge/domain-hosts.ts';
import { Domains, readSavedDomains } from '../../src/edge/domains.ts';
import { connect } from '../../src/log/connect.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const unreachable = connect('postgres://127.0.0.1:1/none');
const parent = mkdtempSync(join(tmpdir(), 'domains-'));
afterAll(async () => {
  await unreachable.end({ timeout: 1 });
  rmSync(parent, { recursive: true, force: true });
});

const identity = { domain: 'dom_1', name: 'go.test' };
const at = (position: number, event: AccountDomainEvent, stream = 'acct_1'): Recorded<AccountDomainEvent> => ({
  ...event,
  id: `evt_${position}`,
  stream,
  version: position,
  actor: 'test',
  occurred_at: new Date('2026-03-01T09:30:00Z'),
  position,
});
const added = (data = identity): AccountDomainEvent => ({ type: 'domain_added', data: { ...data, token: 'token' } });
const verified = (data = identity): AccountDomainEvent => ({ type: 'domain_verified', data });
const removed = (data = identity): AccountDomainEvent => ({
  type: 'domain_removed',
  data: { ...data, reason: 'removed' },
});

const row = (fields: Partial<Domain> = {}): Domain => ({
  id: 'dom_1',
  account: 'acct_1',
  name: 'go.test',
  status: 'active',
  token: 'token',
  root_url: null,
  not_found_url: null,
  expired_url: null,
  app_links: null,
  created_at: new Date(0),
  verified_at: new Date(0),
  removed_at: null,
  ...fields,
});

async function stored(rows: Domain[]): Promise<Domains> {
  await database.sql`TRUNCATE domains`;
  for (const domain of rows) await database.sql`INSERT INTO domains ${database.sql(domain)}`;
  return new Domains(database.sql, undefined);
}

describe('the domains that an edge knows', () => {
  test('follow events, of which older ones and repeated ones change nothing', () => {
    const domains = new Domains(unreachable, undefined);
    domains.apply([at(1, added())]);
    expect(domains.find('go.test'), 'a claim is no proof').toBeUndefined();
    domains.apply([at(2, verified()), at(4, removed())]);
    expect(domains.find('go.test')).toBe('former');
    domains.apply([
      at(1, added()),
      at(2, verified()),
      at(3, { type: 'domain_failed', data: { ...identity, problems: [] } }),
    ]);
    expect(domains.find('go.test'), 'events that arrive again').toBe('former');
  });

  test('forget a claim that was never proved', () => {
    const domains = new Domains(unreachable, undefined);
    domains.apply([at(1, added()), at(2, removed())]);
    expect(domains.find('go.test')).toBeUndefined();
  });

  test('keep the name of a domain that must be proved again, because its account was moved', () => {
    const domains = new Domains(unreachable, undefined);
    domains.apply([at(1, added()), at(2, verified()), at(3, added())]);
    expect(domains.find('go.test')).toBe('former');
    domains.apply([at(4, verified())]);
    expect(domains.find('go.test')).toMatchObject({ account: 'acct_1' });
  });

  test('keep serving a domain that fails', () => {
    const domains = new Domains(unreachable, undefined);
    domains.apply([
      at(1, added()),
      at(2, verified()),
      at(3, { type: 'domain_failed', data: { ...identity, problems: [] } }),
    ]);
    expect(domains.find('go.test')).toMatchObject({ account: 'acct_1' });
  });

  test.each([
    ['first', [at(5, removed()), at(6, verified({ ...identity, domain: 'dom_2' }), 'acct_2')]],
    ['last', [at(5, verified({ ...identity, domain: 'dom_2' }), 'acct_2'), at(6, removed())]],
  ])('are of the account that proved it last, whose former account loses it %s', (_, events) => {
    const domains = new Domains(unreachable, undefined);
    domains.apply([at(1, added()), at(2, verified()), at(3, added({ ...identity, domain: 'dom_2' }), 'acct_2')]);
    domains.apply(events);
    expect(domains.find('go.test')).toMatchObject({ account: 'acct_2' });
  });

  test('are read from Postgres, without what was removed', async () => {
    const domains = await stored([
      row(),
      row({ id: 'dom_2', name: 'failing.test', status: 'failing' }),
      row({ id: 'dom_3', name: 'pending.test', status: 'pending' }),
    ]);
    await domains.loaded();
    expect(['go.test', 'failing.test', 'pending.test'].map((name) => domains.find(name) !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
    await database.sql`UPDATE domains SET status = 'removed' WHERE id = 'dom_1'`;
    await domains.refresh();
    expect(domains.find('go.test')).toBe('former');
    await database.sql`
      INSERT INTO codes (id, account, mode, name, destination_url, destination_revision, short_code, status, style, created_at,
        updated_at, version, position)
      SELECT 'qr_' || n, 'acct_1', 'live', 'Menu', 'https://example.com', 1, host || '/' || n, 'deleted', '{}', now(), now(), 1, n
      FROM generate_series(1, 6) AS n, LATERAL (SELECT CASE WHEN n < 4 THEN 'erased.test' ELSE 'go.test' END AS host)`;
    await domains.refresh();
    const found = ['go.test', 'erased.test', 'failing.test', 'other.test'].map((name) => domains.find(name));
    expect(found).toEqual(['former', 'former', expect.objectContaining({ name: 'failing.test' }), undefined]);
    await database.sql`DELETE FROM codes`;
  });

  test('are not replaced by a read that is older than their last event, until the log itself has lost it', async () => {
    const domains = await stored([row()]);
    await domains.loaded();
    domains.apply([at(1_000_000, removed())]);
    await domains.refresh();
    expect(typeof domains.find('go.test'), 'the instance that took a change never serves the old state').not.toBe(
      'object',
    );
    await domains.reload();
    expect(domains.find('go.test')).toBeDefined();
  });

  test('lose the domains of a deleted account', async () => {
    const domains = await stored([row()]);
    await domains.loaded();
    domains.apply([{ ...at(9, removed()), type: 'account_deleted', data: {} }]);
    expect(domains.find('go.test')).toBe('former');
  });

  test('are saved for a start without Postgres', async () => {
    const domains = await stored([row({ root_url: 'https://example.com' })]);
    await domains.loaded();
    for (const folder of ['edge-0', 'edge-1']) mkdirSync(join(parent, folder));
    await domains.save(join(parent, 'edge-0'));
    writeFileSync(join(parent, 'edge-1', 'domains.json'), '{"version":1,"dom');
    const started = new Domains(unreachable, await readSavedDomains(parent));
    expect(started.isLoaded).toBe(true);
    expect(started.find('go.test')).toMatchObject({ root_url: 'https://example.com' });
  });
});

describe('an edge that does not know the domains yet', () => {
  const hostsOn = (domains: Domains) =>
    new DomainHosts({
      domains,
      trustedProxies: { v4: [], v6: [] },
      ownUrls: ['https://qr.test'],
      site: {
        redirect: async (_, link) => new Response(link),
        answerUnknown: async () => new Response('unknown'),
        bans: { covers: () => false },
        brands: { of: async () => undefined },
        appLinks: { of: async () => null },
      },
    });

  test('reads them before it answers for a host that is not its own', async () => {
    const hosts = hostsOn(await stored([row()]));
    expect(hosts.answer(new Request('http://qr.test/menu'), '')).toBeUndefined();
    const response = await hosts.answer(new Request('http://go.test/menu'), '');
    expect(await response?.text()).toBe('go.test/menu');
    expect(hosts.answer(new Request('http://other.test/menu'), '')).toBeUndefined();
  });

  test('answers 503 rather than with the code of the service that has the same short code', async () => {
    const hosts = hostsOn(new Domains(unreachable, undefined));
    const response = await hosts.answer(new Request('http://go.test/menu'), '');
    expect(response?.status).toBe(503);
  });

  test('leaves the proof of a domain to the service, on every host', async () => {
    const domains = await stored([row()]);
    await domains.loaded();
    expect(hostsOn(domains).answer(new Request('http://go.test/.well-known/scanlog/token'), '')).toBeUndefined();
  });

  test('believes X-Forwarded-Host of trusted proxies only', async () => {
    const domains = await stored([row()]);
    await domains.loaded();
    const request = new Request('http://qr.test/menu', { headers: { 'x-forwarded-host': 'go.test' } });
    expect(hostsOn(domains).answer(request, '203.0.113.7')).toBeUndefined();
  });
});
