import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from './connection.ts';

export interface ScannedCode {
  id: string;
  shortCode: string;
}

/** One scan by a unique visitor, and the status that its client received. */
export interface Attempt {
  code: ScannedCode;
  address: string;
  outcome: number | 'no response';
}

export interface Scanner {
  readonly attempts: Attempt[];
  /** Resolves when every scan in flight has been answered or has failed. */
  stop(): Promise<void>;
}

export const scannerAgent =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1';

let visitors = 0;

/** An address that has not been used in this process; 10.0.0.0/8 has 16 million. */
function newVisitor(): string {
  const number = ++visitors;
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}

export interface ScannerOptions {
  /** Ports on loopback; connections are spread over them. */
  ports: number[];
  codes: ScannedCode[];
  connections?: number;
  /** The pause of each connection between two scans, which limits the load. */
  pauseMs?: number;
}

/** Scans and records every response until stopped. */
export function startScanning({ ports, codes, connections = 8, pauseMs = 50 }: ScannerOptions): Scanner {
  const attempts: Attempt[] = [];
  let stopping = false;
  let scans = 0;

  async function scanOn(port: number): Promise<void> {
    let connection: Connection | undefined;
    while (!stopping) {
      const code = codes[scans++ % codes.length] as ScannedCode;
      const attempt: Attempt = { code, address: newVisitor(), outcome: 'no response' };
      attempts.push(attempt);
      connection ??= openConnection(port);
      try {
        const headers = { 'x-forwarded-for': attempt.address, 'user-agent': scannerAgent };
        attempt.outcome = await connection.get(`/${code.shortCode}`, headers);
      } catch {
        connection.close();
        connection = undefined;
        await sleep(50);
      }
      await sleep(pauseMs);
    }
    connection?.close();
  }

  const scanning = Array.from({ length: connections }, (_, i) => scanOn(ports[i % ports.length] as number));
  return {
    attempts,
    async stop() {
      stopping = true;
      await Promise.all(scanning);
    },
  };
}

/** The number of attempts by outcome. */
export function outcomesOf(attempts: Attempt[]): Map<Attempt['outcome'], number> {
  const outcomes = new Map<Attempt['outcome'], number>();
  for (const { outcome } of attempts) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  return outcomes;
}
