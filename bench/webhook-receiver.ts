/**
 * A webhook receiver in a separate process, which prints its port. `/hang/…` never answers, all other paths answer at
 * once. `GET /seen` returns the count, the duration and the p99 delay after the scan, and resets them. `NICENESS` lowers its
 * priority, and `LEAVES_FIRST_CPU=1` keeps it off the first CPU.
 */
import { leaveFirstCpu } from '../src/lib/leave-first-cpu.ts';
import { lowerPriority } from '../src/lib/lower-priority.ts';

void lowerPriority(Number(process.env['NICENESS'] ?? 0));
if (process.env['LEAVES_FIRST_CPU'] === '1') leaveFirstCpu();
let count = 0;
let first = 0;
let last = 0;
let delays: number[] = [];

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 60,
  async fetch(request) {
    const path = new URL(request.url).pathname;
    if (path === '/seen') {
      delays.sort((a, b) => a - b);
      const seen = { count, seconds: (last - first) / 1000, p99: delays[Math.floor(delays.length * 0.99)] ?? 0 };
      count = 0;
      delays = [];
      return Response.json(seen);
    }
    if (path.startsWith('/hang/')) return new Promise<Response>(() => {});
    const body = (await request.json()) as { timestamp: string };
    last = performance.now();
    if (count++ === 0) first = last;
    delays.push(Date.now() - Date.parse(body.timestamp));
    return new Response('ok');
  },
});
console.log(server.port);
