import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tools = fileURLToPath(new URL('../../.tools', import.meta.url));

/** The path of a program that `./scanlog test` fetches if it is not installed. */
export function programOf(name: 'caddy' | 'nginx' | 'prometheus' | 'promtool' | 'nats-server'): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', tools];
  const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (found === undefined)
    throw new Error(
      `${name} is neither on the PATH nor in .tools: ./scanlog test fetches it from Debian's packages; elsewhere, install it.`,
    );
  return found;
}

/** Runs a program to its end, and returns its output. */
export function runProgram(command: string, args: string[], options: { cwd?: string; input?: string } = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  return { status, output: `${stdout}${stderr}` };
}

export interface RunningProgram {
  output(): string;
  stop(): Promise<void>;
}

/** Starts a program that runs until `stop`. */
export function startProgram(
  command: string,
  args: string[],
  environment: Record<string, string> = {},
): RunningProgram {
  const { PATH = '' } = process.env;
  const child: ChildProcess = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, ...environment },
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const exited = new Promise((resolve) => child.once('close', resolve));
  return {
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
