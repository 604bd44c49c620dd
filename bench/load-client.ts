import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { Socket } from 'bun';
import { lowerPriority } from '../src/lib/lower-priority.ts';

/**
 * A load generator with little CPU cost: raw sockets, and of each response only the status is read. Runs as a separate
 * process, `bun bench/load-client.ts <url> <connections> <seconds> [requests per second]`, and prints one line of JSON, sooner
 * on SIGTERM.
 */
const [, , target = '', connections = '64', seconds = '5', rate = '0'] = process.argv;
const { hostname, port, pathname } = new URL(target);
// Its session does not inherit the priority of an attack that it is a part of.
void lowerPriority(getPriority());
const perSecond = Number(rate);
const firstVisitor = Math.floor(Math.random() * 2 ** 24);
/** Requested in rotation: the entries of the file, or the URL itself. */
const targetsFile = process.env['LOAD_TARGETS'];
const targets: { path: string; authorization: string }[] =
  targetsFile === undefined
    ? [{ path: pathname, authorization: process.env['LOAD_AUTHORIZATION'] ?? 'none' }]
    : JSON.parse(readFileSync(targetsFile, 'utf8'));

interface Connection {
  sentAt: number;
  number: number;
}

const times: number[] = [];
const statuses: Record<string, number> = {};
let sent = 0;
let isRunning = true;

const request = (number: number) => {
  const n = (number + firstVisitor) >>> 0;
  const address = `${1 + ((n >>> 24) & 127)}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
  const { path, authorization } = targets[number % targets.length] as (typeof targets)[number];
  return `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUser-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1\r\nX-Forwarded-For: ${address}\r\nAuthorization: ${authorization}\r\n\r\n`;
};

const terminated = new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()));
const started = performance.now();

function send(socket: Socket<Connection>): void {
  if (!isRunning) return;
  const number = sent++;
  const delayMs = perSecond === 0 ? 0 : started + (number / perSecond) * 1000 - performance.now();
  const go = () => {
    socket.data.sentAt = performance.now();
    socket.write(request(number));
  };
  // A late request is sent at once, so that the average rate is kept.
  if (delayMs > 1) setTimeout(go, delayMs);
  else go();
}

await Promise.all(
  Array.from({ length: Number(connections) }, (_, number) =>
    Bun.connect<Connection>({
      hostname,
      port: Number(port),
      data: { sentAt: 0, number },
      socket: {
        open: send,
        data(socket, bytes) {
          // Every response that is measured fits into one packet, including its body.
          times.push(performance.now() - socket.data.sentAt);
          const status = bytes.toString('latin1', 9, 12);
          statuses[status] = (statuses[status] ?? 0) + 1;
          send(socket);
        },
      },
    }),
  ),
);
await Promise.race([Bun.sleep(Number(seconds) * 1000), terminated]);
isRunning = false;
const elapsed = (performance.now() - started) / 1000;
times.sort((a, b) => a - b);
const percentile = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
console.log(
  JSON.stringify({
    perSecond: times.length / elapsed,
    statuses,
    p50: percentile(0.5),
    p90: percentile(0.9),
    p99: percentile(0.99),
  }),
);
process.exit(0);
