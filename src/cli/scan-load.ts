import { StartError } from '../lib/errors.ts';
import { progressBar } from './progress.ts';
import { print, table } from './terminal.ts';

const maxRate = 20_000;
const maxSeconds = 600;
const maxInFlight = 256;
const userAgents = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
];

interface Options {
  code: string;
  rate: string;
  seconds: string;
  port: string;
}

function readInteger(name: string, text: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new StartError(`--${name} must be an integer from 1 to ${max}.`);
}

/** Scans a short link at a steady rate, each time as a new visitor, on this machine only. */
export async function scanLoad(options: Options): Promise<void> {
  if (!/^[A-Za-z0-9_-]{3,50}$/.test(options.code))
    throw new StartError('--code must be a short code of 3 to 50 characters, such as spring-26.');
  const rate = readInteger('rate', options.rate, maxRate);
  const total = rate * readInteger('seconds', options.seconds, maxSeconds);
  const url = `http://127.0.0.1:${readInteger('port', options.port, 65_535)}/${options.code}`;

  const statuses = new Map<string, number>();
  const timesMs: number[] = [];
  const bar = progressBar('scanning');
  const started = performance.now();
  let sent = 0;
  const worker = async () => {
    while (sent < total) {
      const number = sent++;
      const wait = started + (number / rate) * 1000 - performance.now();
      if (wait > 1) await Bun.sleep(wait);
      const before = performance.now();
      const status = await fetch(url, { redirect: 'manual', headers: visitor(number) }).then(
        ({ status }) => String(status),
        () => 'no response',
      );
      timesMs.push(performance.now() - before);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      bar.update(timesMs.length, total);
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxInFlight, total) }, worker));
  bar.end();

  timesMs.sort((a, b) => a - b);
  const percentile = (share: number) => `${(timesMs[Math.floor((timesMs.length - 1) * share)] ?? 0).toFixed(1)} ms`;
  const seconds = (performance.now() - started) / 1000;
  print(
    table([
      ...[...statuses].map(([status, count]) => [status, String(count)]),
      ['rate', `${Math.round(timesMs.length / seconds)}/s`],
      ['p50', percentile(0.5)],
      ['p99', percentile(0.99)],
    ]),
  );
}

/** Works only while loopback is in TRUSTED_PROXIES, which is the default. */
const visitor = (number: number): Record<string, string> => {
  const mixed = Math.imul(number + Math.floor(performance.timeOrigin), 0x9e3779b1) >>> 0;
  return {
    'x-forwarded-for': `${1 + ((mixed >>> 24) % 222)}.${(mixed >>> 16) & 255}.${(mixed >>> 8) & 255}.${mixed & 255}`,
    'user-agent': userAgents[number % userAgents.length] ?? '',
  };
};
