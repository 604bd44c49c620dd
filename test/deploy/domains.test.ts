import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseTrustedProxies } from '../../src/lib/client-address.ts';
import { type IpRanges, parseRanges } from '../../src/lib/ip-range.ts';
import { freePort } from '../../src/stack/processes.ts';
import { created } from '../support/api.ts';
import { useDns } from '../support/dns-server.ts';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';
import { curl, domain, request, startTlsProxy, type TlsProxy } from './proxy-support.ts';

const dns = useDns();
const ports = { httpPort: await freePort(), httpsPort: await freePort() };
const loopback = '127.0.0.1/32';
const service = useService({
  projections: false,
  config: {
    // The proof is requested on the port of this URL, which is the port for plain HTTP of Caddy.
    shortBaseUrl: `http://${domain}:${ports.httpPort}`,
    dnsServers: dns.servers,
    domainAllowedCidrs: parseRanges(loopback) as IpRanges,
    trustedProxies: parseTrustedProxies(loopback) as IpRanges,
  },
});
let caddy: TlsProxy;
beforeAll(async () => {
  caddy = await startTlsProxy('caddy', `127.0.0.1:${new URL(service.urls[0] as string).port}`, ports);
});
afterAll(() => caddy?.stop());

test('a custom domain gets a certificate once it is verified, redirects over https, and answers 404 once it is removed', async () => {
  const { live } = await service.account();
  const host = 'go.acme.test';
  const unverified = curl(caddy, '/menu', [], { host });
  expect(await unverified.exitCode, 'no certificate for a name that no account has proved').not.toBe(0);

  const { id, records } = (await live.post('/v1/domains', { name: host })).body;
  dns.set(host, { A: ['127.0.0.1'] });
  dns.set(`_scanlog.${host}`, { TXT: [records[0].value] });
  expect((await live.post(`/v1/domains/${id}/verify`, {})).body).toMatchObject({ status: 'active', problems: [] });
  await created(live, { domain: host, short_code: 'menu', destination_url: 'https://example.com/menu' });

  const redirected = await eventually(() => request(caddy, '/menu', [], { host }));
  expect([redirected.status, redirected.headers['location']]).toEqual([302, 'https://example.com/menu']);
  const plain = await request(caddy, '/menu?table=4', [], { host, scheme: 'http' });
  expect([plain.status, plain.headers['location']]).toEqual([308, `https://${host}/menu?table=4`]);
  for (const through of [host, domain])
    expect((await request(caddy, `/internal/tls?domain=${host}`, [], { host: through })).status).toBe(404);

  expect((await live.post(`/v1/domains/${id}/verify`, {})).body, 'also while it redirects').toMatchObject({
    status: 'active',
    problems: [],
  });
  await live.delete(`/v1/domains/${id}`);
  expect((await request(caddy, '/menu', [], { host })).status).toBe(404);
});
