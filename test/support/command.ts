import { vi } from 'vitest';
import { runCommand } from '../../src/cli.ts';
import { engineVariable } from '../../src/stack/clickhouse/engines.ts';

export interface Ended {
  code: number;
  /** What it printed to stdout and stderr. */
  output: string;
}

/**
 * Runs a command of `./scanlog` in this process, with only the given environment and the selected engine: a process for
 * each costs half a second. One at a time, because it replaces what belongs to the process.
 *
 * @example
 * const { code, output } = await command(['account', 'list', '--json'], { DATABASE_URL: database.url });
 */
export async function command(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  const { env, exitCode } = process;
  const { PATH = '', HOME = '', [engineVariable]: engine = '' } = env;
  let output = '';
  const collect = (text: unknown) => {
    output += String(text);
    return true;
  };
  const streams = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(collect),
  );
  process.env = { PATH, HOME, [engineVariable]: engine, METRICS_PORT: '0', ...environment };
  process.exitCode = 0;
  try {
    await runCommand(args);
    return { code: Number(process.exitCode), output };
  } finally {
    for (const stream of streams) stream.mockRestore();
    process.env = env;
    process.exitCode = exitCode;
  }
}
