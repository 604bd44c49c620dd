import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { decodePng, exampleUrl } from './support.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const program = fileURLToPath(new URL('draw-to-stdout.ts', import.meta.url));

const runtimes: [name: string, command: string, options: string[]][] = [
  ['Deno', 'node_modules/.bin/deno', ['run', '--no-lock', '--node-modules-dir=manual', '--allow-read', '--allow-env']],
  ['Node', nodeOf(process.arch), []],
];

function nodeOf(arch: string): string {
  const own = `node_modules/node-linux-${arch}/bin/node`;
  return existsSync(`${root}${own}`) ? own : 'node';
}

test.each(runtimes)('draws the same images on %s', async (_, command, options) => {
  const style = { dotsType: 'classy-rounded', cornersSquareType: 'dot', cornersDotColor: '#AA0000' } as const;
  const { stdout } = await run(command, [...options, program, exampleUrl, JSON.stringify(style)], { cwd: root });
  const { png, svg } = JSON.parse(stdout) as { png: string; svg: string };
  expect(svg).toBe(drawSvg(exampleUrl, style, 256));
  // Compressed bytes can differ between versions of zlib, so pixels are compared.
  const [theirs, ours] = [decodePng(Buffer.from(png, 'base64')), decodePng(await drawPng(exampleUrl, style, 256))];
  expect(Buffer.compare(theirs.rgb, ours.rgb)).toBe(0);
});
