import { setTimeout as sleep } from 'node:timers/promises';
import { connect, ErrorCode, type NatsConnection, NatsError } from 'nats';

const retryMs = 500;

/** A connection to NATS that comes back by itself, however long the server is away, also at the start. */
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

function connectOnce(url: string, name: string): Promise<NatsConnection> {
  const { protocol, host, username, password } = new URL(url);
  return connect({
    servers: `${protocol}//${host}`,
    name,
    // A lone user name is a token, as in NATS' own tools.
    ...(username !== '' && password === '' ? { token: decodeURIComponent(username) } : {}),
    ...(password !== '' ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {}),
    ...(protocol === 'tls:' ? { tls: {} } : {}),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    timeout: 3_000,
    pingInterval: 10_000,
  });
}
