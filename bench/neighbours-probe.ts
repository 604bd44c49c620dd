/**
 * Uses the service as an ordinary account does, one request of each kind at a time, until SIGTERM; then prints the durations.
 * Runs as a separate process, so that the clients of an attack do not delay its own.
 */
import { messageOf } from '../src/lib/errors.ts';
import type { Probed, ProbeKind, ProbeResult } from './neighbours-world.ts';

const { url, key, codes, exported } = JSON.parse(process.env['PROBED'] ?? '{}') as Probed;
const pauseMs = 50;
/** Each image is drawn once: a code and a size hardly ever occur together twice. */
const firstSize = 256 + Math.floor(Math.random() * 600);

let isRunning = true;
process.once('SIGTERM', () => {
  isRunning = false;
});

const authorization = `Bearer ${key}`;
const get = (path: string) => fetch(`${url}${path}`, { headers: { authorization } });
const sheet = (id: string) =>
  fetch(`${url}/v1/sheets`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ qr_ids: [id], layout: 'a4-3x8' }),
  });
const sizeOf = (turn: number) => firstSize + Math.floor(turn / codes.length);

const requests: Record<ProbeKind, (id: string, turn: number) => Promise<Response>> = {
  'public image': (id, turn) => fetch(`${url}/images/${id}/public?size=${sizeOf(turn)}`),
  download: (id, turn) => get(`/v1/qrcodes/${id}/download?size=${sizeOf(turn) + 1_000}`),
  'API read': (id) => get(`/v1/qrcodes/${id}`),
  analytics: () => get(`/v1/qrcodes/${exported}/analytics`),
  export: () => get(`/v1/qrcodes/${exported}/analytics/export`),
  'one-label sheet': sheet,
};

/** Reads a response to its end. */
async function failureOf(response: Response): Promise<string | undefined> {
  const text = await response.text();
  return response.ok ? undefined : `${response.status} ${text.slice(0, 120)}`;
}

async function repeat(request: (id: string, turn: number) => Promise<Response>): Promise<ProbeResult> {
  const result: ProbeResult = { times: [], failures: [] };
  for (let turn = Math.floor(Math.random() * 1_000); isRunning; turn++) {
    const started = performance.now();
    const failure = await request(codes[turn % codes.length] as string, turn).then(failureOf, messageOf);
    if (failure === undefined) result.times.push(performance.now() - started);
    else result.failures.push(failure);
    await Bun.sleep(pauseMs);
  }
  return result;
}

const kinds = Object.keys(requests) as ProbeKind[];
const results = await Promise.all(kinds.map((kind) => repeat(requests[kind])));
console.log(JSON.stringify(Object.fromEntries(kinds.map((kind, i) => [kind, results[i]]))));
process.exit(0);
