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

export function natsPlan({ data, port, password }: { data: DataDirectory; port: number; password: string }): PartPlan {
  const folder = join(data.path, 'nats');
  const settings = join(data.path, 'nats.conf');
  return {
    name: 'nats',
    stopSignal: 'SIGTERM',
    launch() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // In a file, since everybody on the machine can read a command line.
      const lines = [
        `listen: "127.0.0.1:${port}"`,
        `jetstream: { store_dir: ${JSON.stringify(folder)}, max_memory_store: 64MB, max_file_store: 256GB }`,
        `authorization: { user: "scanlog", password: ${JSON.stringify(password)} }`,
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
