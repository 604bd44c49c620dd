import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { engineVariable } from '../../src/stack/clickhouse/engines.ts';
import { eventually, Unreachable } from './eventually.ts';
import { timeoutScale } from './limits.ts';

export interface Running {
  pid: number;
  /** Everything printed so far. */
  output(): string;
  /** Waits until it has printed `text`. */
  prints(text: string): Promise<void>;
  exitCode(): Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

const ownCheckout = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the command line in a separate process, with only the given environment and the selected engine. */
export function runScanlog(
  args: string[],
  environment: Record<string, string> = {},
  checkout: string = ownCheckout,
): Running {
  const cli = join(checkout, 'src/cli.ts');
  const { PATH = '', HOME = '', [engineVariable]: engine = '' } = process.env;
  const child: ChildProcess = spawn(process.execPath, [cli, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH,
      HOME,
      [engineVariable]: engine,
      METRICS_PORT: '0',
      TIMEOUT_SCALE: String(timeoutScale),
      ...environment,
    },
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  let isOver = false;
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  void exited.then(() => {
    isOver = true;
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    prints: (text) =>
      eventually(() => {
        if (isOver && !output.includes(text))
          throw new Unreachable(`it exited with ${child.exitCode} and never printed "${text}":\n${output}`);
        expect(output).toContain(text);
      }),
    exitCode: () => exited,
    signal: (name) => child.kill(name),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
