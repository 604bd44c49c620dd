import { connect, type NatsConnection } from 'nats';

/** A connection to NATS that comes back by itself, however long the server is away. */
export function connectStream(url: string, name: string): Promise<NatsConnection> {
  const { protocol, host, username, password } = new URL(url);
  return connect({
    servers: `${protocol}//${host}`,
    name,
    // A lone user name is a token, as in NATS' own tools.
    ...(username !== '' && password === '' ? { token: decodeURIComponent(username) } : {}),
    ...(password !== '' ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {}),
    ...(protocol === 'tls:' ? { tls: {} } : {}),
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    timeout: 3_000,
    pingInterval: 10_000,
  });
}
