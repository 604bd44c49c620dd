import { expect, test } from 'vitest';
import { domainChecks } from '../../src/cli/doctor/domains.ts';
import { runChecks } from '../../src/cli/doctor/finding.ts';
import { readConfig } from '../../src/config/config.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { testSecretKey } from '../support/secret-box.ts';

/** A service, or something else, on loopback. */
function serve(respond: (url: URL) => Response) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: ({ url }) => respond(new URL(url)) });
  return { port: String(server.port), stop: () => server.stop(true) };
}

const examine = (environment: Record<string, string>) =>
  runChecks('service', domainChecks(readConfig(environment), testSecretKey), String);

test('a service on this computer alone has no custom domains', async () => {
  expect(await examine({})).toEqual([]);
});

test('the target of custom domains must lead to this service', async () => {
  const box = createSecretBox(testSecretKey);
  const token = ({ pathname }: URL) => pathname.replace('/.well-known/scanlog/', '');
  const behaviors: [string, (url: URL) => Response][] = [
    ['ok', (url) => new Response(box.domainProofOf(token(url)))],
    ['redirects', () => Response.redirect('https://go.test/', 308)],
    ['does not lead to this service', (url) => new Response(token(url))],
    ['does not lead to this service', () => new Response('', { status: 404 })],
  ];
  for (const [expected, respond] of behaviors) {
    const { port, stop } = serve(respond);
    const settings = { SHORT_BASE_URL: `http://go.test:${port}`, DOMAIN_TARGET: '127.0.0.1' };
    const [finding] = await examine(settings).finally(stop);
    if (expected === 'ok') expect(finding).toMatchObject({ check: 'domain_target', status: 'ok' });
    else expect(finding).toMatchObject({ status: 'warning', message: expect.stringContaining(expected) });
    const [gone] = await examine(settings);
    expect(gone).toMatchObject({ status: 'warning', message: expect.stringContaining('does not answer') });
  }
});

test('the service must say that its own host gets a certificate, and an unknown one none', async () => {
  const certificates = async (respond: (url: URL) => Response) => {
    const { port, stop } = serve(respond);
    // Nothing is requested from the target: it is never found.
    const settings = { SHORT_BASE_URL: 'https://go.test', DOMAIN_TARGET: 'target.invalid', PORT: port };
    const findings = await examine(settings).finally(stop);
    return findings.find(({ check }) => check === 'domain_certificates')?.status;
  };
  const statusOf = (isServed: boolean) => new Response(null, { status: isServed ? 200 : 404 });
  expect(await certificates((url) => statusOf(url.searchParams.get('domain') === 'go.test'))).toBe('ok');
  expect(await certificates(() => statusOf(true)), 'anyone gets a certificate').toBe('error');
  expect(await certificates(() => statusOf(false))).toBe('error');
});
