import { spawn } from 'node:child_process';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';

export interface Block {
  section: string;
  /** Why the test does not run it, from the comment above it, which may also name the machines that it is for. */
  byHand: string | undefined;
  text: string;
}

/** The shell commands of a page, in order. */
export function blocksOf(page: string): Block[] {
  return page.split(/^## /m).flatMap((section) =>
    [...section.matchAll(/(?:<!-- (.*) -->\n)?```sh\n([\s\S]*?)```/g)].map(([, comment, text = '']) => ({
      section: section.slice(0, section.indexOf('\n')),
      byHand: comment?.split('; ').find((part) => !part.startsWith('on ')),
      text,
    })),
  );
}

/** One shell for all blocks, since later ones use variables and the folder of earlier ones. */
export function openShell(environment: Record<string, string>) {
  const child = spawn('sh', ['-e'], { stdio: 'pipe', env: environment });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  let blocks = 0;
  return {
    /** Runs a block and returns what it printed; rejects if a command fails. */
    async run(text: string): Promise<string> {
      const from = output.length;
      const end = `end of block ${++blocks}`;
      child.stdin.write(`${text}\necho '${end}'\n`);
      await eventually(() => {
        const done = output.includes(end) || child.exitCode !== null;
        expect(done, `${text}\nprinted:\n${output.slice(from)}`).toBe(true);
      });
      expect(child.exitCode, `${text}\nfailed:\n${output.slice(from)}`).toBeNull();
      return output.slice(from, output.indexOf(end, from));
    },
    close: () => child.kill(),
  };
}
