import { setTimeout as sleep } from 'node:timers/promises';
import { connect, ErrorCode, type NatsConnection, NatsError } from 'nats';
import { urlsOf } from '../lib/setting-readers.ts';

const retryMs = 500;

/**
 * Connects to any of the NATS servers in `url`, and retries without limit, also the first connection. Requires the `nats` package patched
 * by `patches/`.
 *
 * @example connectStream('nats://me:secret@a:4222,nats://me:secret@b:4222', 'scanlog', signal)
 */
export async function connectStream(url: string, name: string, signal: AbortSignal): Promise<NatsConnection> {
  for (;;) {
    try {
      return await connectOnce(url, name);
    } catch (error) {
      if (error instanceof NatsError && error.code === ErrorCode.AuthorizationViolation) throw error;
      await sleep(retryMs, undefined, { signal });
    }
  }
}

/** Like `connectStream`, but the first connection is not retried. */
export function connectOnce(url: string, name: string): Promise<NatsConnection> {
  const servers = urlsOf(url).map((server) => new URL(server));
  // Settings validation ensures that all servers have the same protocol and credentials.
  const { protocol, username, password } = servers[0] as URL;
  return connect({
    servers: servers.map(({ host }) => `${protocol}//${host}`),
    name,
    // A user name without a password is a token, as in NATS' own tools.
    ...(username !== '' && password === '' ? { token: decodeURIComponent(username) } : {}),
    ...(password !== '' ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {}),
    ...(protocol === 'tls:' ? { tls: {} } : {}),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    timeout: 3_000,
    pingInterval: 10_000,
  });
}
