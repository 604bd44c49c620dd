import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '../lib/errors.ts';
import { timeouts } from '../lib/timeouts.ts';
import type { DataDirectory } from './data-directory.ts';
import type { PartPlan } from './part.ts';
import { readableProgram } from './reach.ts';
import { changeOwner, launchAs, serverUser } from './server-user.ts';

export const natsUrl = (port: number, password: string) => `nats://scanlog:${password}@127.0.0.1:${port}`;

/** Where ./scanlog unpacks nats-server if the machine has none. */
const unpacked = fileURLToPath(new URL('../../.tools/nats-server', import.meta.url));

/** The version of a nats-server, such as 2.9.10; undefined if it does not run. */
function fullVersionOf(path: string): string | undefined {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  return /^nats-server: v(\d+\.\d+[\w.-]*)/m.exec(stdout ?? '')?.[1];
}

/** The same as numbers, such as [2, 9]. */
function versionOf(path: string): [major: number, minor: number] | undefined {
  const [major, minor] = fullVersionOf(path)?.split('.') ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

/** The version of the nats-server that `up` starts. */
export const natsServerVersion = (): string | undefined => fullVersionOf(findProgram());

const isNewEnough = ([major, minor]: [number, number]) => major > 2 || (major === 2 && minor >= 9);

/** The first nats-server of version 2.9 or newer, on the PATH or unpacked by ./scanlog. */
function findProgram(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const found = [...folders.map((folder) => join(folder, 'nats-server')), unpacked].filter((path) => existsSync(path));
  const tooOld: string[] = [];
  for (const path of found) {
    const version = versionOf(path);
    if (version !== undefined && isNewEnough(version)) return path;
    tooOld.push(`${path} has ${version === undefined ? 'an unknown version' : `version ${version.join('.')}`}`);
  }
  throw new StartError(
    `nats-server 2.9 or newer was not found${tooOld.length === 0 ? ' on the PATH' : ` (${tooOld.join('; ')})`}: install it, or set NATS_URL.`,
  );
}

/** In the folder of the server, next to its streams. */
const settingsFile = 'server.conf';

/** One server of a cluster on loopback. */
export interface NatsNode {
  number: number;
  /** Port for routes from the other servers of the cluster, and that port of every server. */
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
  return {
    name,
    stopSignal: 'SIGTERM',
    launch() {
      const user = serverUser(data);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Earlier versions kept the settings in this file, which the user of NATS cannot read.
      rmSync(join(data.path, `${name}.conf`), { force: true });
      return launchAs(user, folder, (store) => {
        // Not as arguments, which every user of the machine can read.
        const lines = [
          `listen: "127.0.0.1:${port}"`,
          `jetstream: { store_dir: ${JSON.stringify(store)}, max_memory_store: 64MB, max_file_store: 256GB }`,
          `authorization: { user: "scanlog", password: ${JSON.stringify(password)} }`,
          ...(node === undefined ? [] : clusterLines(name, password, node)),
        ];
        writeFileSync(join(folder, settingsFile), `${lines.join('\n')}\n`, { mode: 0o600 });
        changeOwner(user, folder);
        const program = findProgram();
        return {
          command: user === undefined ? program : readableProgram(program),
          args: ['-c', join(store, settingsFile)],
        };
      });
    },
    // With the password, which another NATS on this port would refuse.
    answers: () =>
      new Promise((resolve) => {
        const socket = connectSocket({ host: '127.0.0.1', port });
        const settle = (answer: boolean) => {
          socket.destroy();
          resolve(answer);
        };
        let received = '';
        socket.setTimeout(timeouts.partProbeMs, () => settle(false));
        socket.once('error', () => settle(false));
        socket.once('close', () => settle(false));
        socket.on('data', (chunk) => {
          received += chunk.toString();
          if (/^(PONG|-ERR)/m.test(received)) settle(received.includes('PONG'));
        });
        const credentials = JSON.stringify({ user: 'scanlog', pass: password, verbose: false });
        socket.write(`CONNECT ${credentials}\r\nPING\r\n`);
      }),
  };
}

const clusterLines = (name: string, password: string, { clusterPort, clusterPorts }: NatsNode) => [
  `server_name: "${name}"`,
  'cluster {',
  '  name: "scanlog"',
  `  listen: "127.0.0.1:${clusterPort}"`,
  // Clients must use the addresses of their configuration, which may be the addresses of proxies.
  '  no_advertise: true',
  `  authorization: { user: "scanlog", password: ${JSON.stringify(password)} }`,
  `  routes: [${clusterPorts.map((port) => JSON.stringify(natsUrl(port, password))).join(', ')}]`,
  '}',
];
