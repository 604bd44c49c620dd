import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from '../../src/stack/processes.ts';
import { eventually } from '../support/eventually.ts';

async function listenOn(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}

test('a free port can be listened on, and outgoing connections do not take it', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  const firstEphemeral = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  // A system that uses nearly all ports for outgoing connections leaves none to prefer.
  const end = firstEphemeral > 10_240 ? firstEphemeral : 65_536;
  for (const port of ports) {
    expect(port).toBeGreaterThan(1_024);
    expect(port).toBeLessThan(end);
  }
  // Another process may listen on a port before this one does, but not on every port.
  await eventually(async () => listenOn(await freePort()));
});
