import type { Elysia } from 'elysia';
import { readHost } from '../../events/hosts.ts';
import type { Addresses } from '../config/config.ts';
import type { Edge } from '../edge/edge.ts';
import { hostIn, isTrusted } from '../edge/host.ts';
import type { TrustedProxies } from '../lib/client-address.ts';

interface TlsAskOptions {
  edge: Pick<Edge, 'servesDomain'>;
  addresses: Addresses;
  trustedProxies: TrustedProxies;
}

const path = '/internal/tls';
/** A request with one of these was passed on for a stranger. */
const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host'];

/**
 * Serves what a proxy asks before it gets a certificate for a name: 200 for custom domains and the hosts of the service, else
 * 404. Answered from memory, so that certificates are still loaded while Postgres does not answer, and not logged, because
 * strangers can make a proxy ask for any name.
 */
export function serveTlsAsk(app: Elysia, { edge, addresses, trustedProxies }: TlsAskOptions): void {
  const ownHosts = new Set([addresses.publicUrl, addresses.shortBaseUrl, addresses.imageBaseUrl].map(hostIn));
  app.get(path, ({ request, server }) => {
    const peer = server?.requestIP(request)?.address ?? '';
    const isDirect = forwardingHeaders.every((header) => !request.headers.has(header));
    const name = readHost(new URL(request.url).searchParams.get('domain') ?? '');
    const isServed = name !== undefined && (ownHosts.has(name) || edge.servesDomain(name));
    return new Response(null, { status: isServed && isDirect && isTrusted(peer, trustedProxies) ? 200 : 404 });
  });
}
