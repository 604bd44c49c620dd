import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { decodePng, URL_OF_A_CODE } from './support.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const program = fileURLToPath(new URL('draw-to-stdout.ts', import.meta.url));

const RUNTIMES: [name: string, command: string, options: string[]][] = [
  ['Deno', 'node_modules/.bin/deno', ['run', '--no-lock', '--node-modules-dir=manual', '--allow-read', '--allow-env']],
  ['Node', nodeOf(process.arch), []],
];

function nodeOf(arch: string): string {
  const own = `node_modules/node-linux-${arch}/bin/node`;
  return existsSync(`${root}${own}`) ? own : 'node';
}

test.each(RUNTIMES)(
  '%s draws the same pictures',
  async (_, command, options) => {
    const style = { dotsType: 'classy-rounded', cornersSquareType: 'dot', cornersDotColor: '#AA0000' } as const;
    const { stdout } = await run(command, [...options, program, URL_OF_A_CODE, JSON.stringify(style)], { cwd: root });
    const { png, svg } = JSON.parse(stdout) as { png: string; svg: string };
    expect(svg).toBe(drawSvg(URL_OF_A_CODE, style, 256));
    // Compressed bytes may differ between versions of zlib; pixels may not.
    const [theirs, ours] = [decodePng(Buffer.from(png, 'base64')), decodePng(await drawPng(URL_OF_A_CODE, style, 256))];
    expect(Buffer.compare(theirs.rgb, ours.rgb)).toBe(0);
  },
  30_000,
);
