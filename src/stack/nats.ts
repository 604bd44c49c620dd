import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '../lib/errors.ts';
import type { DataDirectory } from './data-directory.ts';
import type { PartPlan } from './part.ts';

export const natsUrl = (port: number, password: string) => `nats://scanlog:${password}@127.0.0.1:${port}`;

/** Where ./scanlog unpacks it when the machine has none. */
const unpacked = fileURLToPath(new URL('../../.tools/nats-server', import.meta.url));

function program(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const found = [...folders.map((folder) => join(folder, 'nats-server')), unpacked].find((path) => existsSync(path));
  if (found === undefined) throw new StartError('nats-server is not on the PATH: install it, or set NATS_URL.');
  return found;
}

/** One server of a cluster on loopback. */
export interface NatsNode {
  number: number;
  /** Where the servers of the cluster reach each other: its own port, and those of all of them. */
  clusterPort: number;
  clusterPorts: number[];
}

interface NatsOptions {
  data: DataDirectory;
  port: number;
  password: string;
  node?: NatsNode;
}

export function natsPlan({ data, port, password, node }: NatsOptions): PartPlan {
  const name = node === undefined ? 'nats' : (`nats-${node.number}` as const);
  const folder = node === undefined ? join(data.path, 'nats') : join(data.path, 'nats', name);
  const settings = join(data.path, `${name}.conf`);
  return {
    name,
    stopSignal: 'SIGTERM',
    launch() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // In a file, since everybody on the machine can read a command line.
      const lines = [
        `listen: "127.0.0.1:${port}"`,
        `jetstream: { store_dir: ${JSON.stringify(folder)}, max_memory_store: 64MB, max_file_store: 256GB }`,
        `authorization: { user: "scanlog", password: ${JSON.stringify(password)} }`,
        ...(node === undefined ? [] : clusterLines(name, password, node)),
      ];
      writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
      return { command: program(), args: ['-c', settings] };
    },
    // It greets with INFO once it serves.
    answers: () =>
      new Promise((resolve) => {
        const socket = connectSocket({ host: '127.0.0.1', port });
        const settle = (answer: boolean) => {
          socket.destroy();
          resolve(answer);
        };
        socket.setTimeout(1_000, () => settle(false));
        socket.once('error', () => settle(false));
        socket.once('data', (greeting) => settle(greeting.toString().startsWith('INFO')));
      }),
  };
}

const clusterLines = (name: string, password: string, { clusterPort, clusterPorts }: NatsNode) => [
  `server_name: "${name}"`,
  'cluster {',
  '  name: "scanlog"',
  `  listen: "127.0.0.1:${clusterPort}"`,
  // Clients use the addresses they were given, which may be those of proxies.
  '  no_advertise: true',
  `  authorization: { user: "scanlog", password: ${JSON.stringify(password)} }`,
  `  routes: [${clusterPorts.map((port) => JSON.stringify(natsUrl(port, password))).join(', ')}]`,
  '}',
];
