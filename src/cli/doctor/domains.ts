import { proofPath } from '../../../events/domain.ts';
import { type Addresses, addressesOf, type Config } from '../../config/config.ts';
import { proofPortOf } from '../../domains/proof.ts';
import { codeOf } from '../../lib/errors.ts';
import { newDomainToken } from '../../lib/ids.ts';
import { parseAddress } from '../../lib/ip-address.ts';
import { reachOf } from '../../lib/private-host.ts';
import { createSecretBox } from '../../lib/secret-box.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { type Checks, error, type Outcome, ok, warning } from './finding.ts';

/** Checks of what custom domains need, from outside in: where they lead, and which of them get a certificate. */
export function domainChecks(config: Config, secretKey: string | undefined): Checks {
  const addresses = addressesOf(config, config.port);
  const { protocol, hostname } = new URL(addresses.shortBaseUrl);
  // A service that cannot be reached from outside has no custom domains.
  if (reachOf(hostname) === 'computer' && config.domainTarget === undefined) return {};
  return {
    domain_target: () => (secretKey === undefined ? undefined : checkTarget(addresses, secretKey)),
    domain_certificates: () => (protocol === 'https:' ? checkAsk(config, hostname) : undefined),
  };
}

/** Requests the target of custom domains as the service requests a domain to prove. */
async function checkTarget(addresses: Addresses, secretKey: string): Promise<Outcome> {
  const { domainTarget: target } = addresses;
  const token = newDomainToken();
  const port = proofPortOf(addresses.shortBaseUrl);
  const host = parseAddress(target) !== null && target.includes(':') ? `[${target}]` : target;
  const url = `http://${host}:${port}${proofPath}${token}`;
  const remedy = `custom domains that lead to ${target} (DOMAIN_TARGET) cannot be verified: see docs/deploy.md, Custom domains.`;
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeouts.doctorMs) });
    if (response.status >= 300 && response.status < 400)
      return warning(
        `${proofPath} on port ${port} of ${target} redirects, instead of leading to this service: ${remedy}`,
      );
    return (await response.text()).trim() === createSecretBox(secretKey).domainProofOf(token)
      ? ok(`Port ${port} of ${target}, where custom domains lead, reaches this service.`)
      : warning(`Port ${port} of ${target} does not lead to this service (status ${response.status}): ${remedy}`);
  } catch (thrown) {
    return warning(`Port ${port} of ${target} does not answer (${codeOf(thrown) || 'no connection'}): ${remedy}`);
  }
}

/** Asks for a certificate of the service's own host as the proxy on this machine does. */
async function checkAsk({ host, port }: Config, hostname: string): Promise<Outcome> {
  const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const ask = `http://${local}:${port}/internal/tls?domain=`;
  const statusFor = async (name: string) =>
    (await fetch(`${ask}${name}`, { signal: AbortSignal.timeout(timeouts.doctorMs) })).status;
  try {
    const [own, unknown] = [await statusFor(hostname), await statusFor('unknown.invalid')];
    if (own === 200 && unknown === 404) return ok('The service says which names get a certificate.');
    return error(
      `${ask}${hostname} answers ${own} and must answer 200; for an unknown name it answers ${unknown} and must answer 404. Does TRUSTED_PROXIES contain this machine, and is SHORT_BASE_URL the one of the service?`,
    );
  } catch (thrown) {
    return warning(
      `${ask}${hostname} does not answer (${codeOf(thrown) || 'no connection'}): start the service on this machine to check which names get a certificate.`,
    );
  }
}
