import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createLogger } from '../../src/lib/logger.ts';
import { openDataDirectory } from '../../src/stack/data-directory.ts';
import { natsPlan } from '../../src/stack/nats.ts';
import { type ListeningPart, startOnFreePort } from '../../src/stack/part.ts';
import { freePort } from '../../src/stack/processes.ts';

const parent = mkdtempSync(join(tmpdir(), 'scanlog-ports-'));
const log = createLogger('silent', false);
const cleanup: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const clean of cleanup.splice(0)) await clean();
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

async function startNats(folder: string, choosePort: () => Promise<number>): Promise<ListeningPart> {
  const data = openDataDirectory(join(parent, folder));
  const part = await startOnFreePort((port) => natsPlan({ data, port, password: folder }), { data, log }, choosePort);
  cleanup.push(part.stop);
  return part;
}

/** Takes a port first, like a process that was faster, and any free one after that. */
function takenFirst(taken: number): () => Promise<number> {
  const choices = [taken];
  return async () => choices.shift() ?? freePort();
}

test('a server whose port was taken in the meantime gets another one', async () => {
  const sockets: Socket[] = [];
  // It accepts connections and never answers.
  const other = createServer((socket) => void sockets.push(socket));
  const port = await freePort();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  cleanup.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => other.close(resolve));
  });
  const part = await startNats('other', takenFirst(port));
  expect(part.port).not.toBe(port);
});

test('a NATS of another program on the port is not taken for its own', async () => {
  const first = await startNats('first', freePort);
  const second = await startNats('second', takenFirst(first.port));
  expect(second.port).not.toBe(first.port);
  expect(second.pid()).not.toBe(first.pid());
});

test('a failure that is not about the port is told at once', async () => {
  const data = openDataDirectory(join(parent, 'broken'));
  let ports = 0;
  const starting = startOnFreePort(
    (port) => ({ ...natsPlan({ data, port, password: 'x' }), launch: () => ({ command: 'false', args: [] }) }),
    { data, log },
    () => {
      ports++;
      return freePort();
    },
  );
  await expect(starting).rejects.toThrow(/^nats did not start/);
  expect(ports).toBe(1);
});
