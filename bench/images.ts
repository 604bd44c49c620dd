import { setTimeout } from 'node:timers/promises';
import QRCode from 'qrcode';
import { drawQrImage, type QrImage } from '../src/qr/image.ts';
import type { LogoArt } from '../src/qr/logo-art.ts';
import { drawPng } from '../src/qr/png.ts';
import { encodePixels } from '../src/qr/png-file.ts';
import { drawSvg } from '../src/qr/svg.ts';
import { Renderer } from '../src/render/renderer.ts';
import { longestStall, type Stall, stallText } from './longest-stall.ts';
import { medianTimesMs } from './median-times.ts';
import { benchPrint } from './print.ts';
import { type BenchRow, boundedRow, median, unboundedRow } from './row.ts';

const styled = {
  dotsType: 'extra-rounded',
  dotsColor: '#14213D',
  cornersSquareType: 'extra-rounded',
  cornersSquareColor: '#9B2226',
  cornersDotType: 'dot',
} as const;

/** A new URL for every image, so that nothing is cached. */
let urls = 0;
const nextUrl = () => `https://scan.example.com/${(1_000_000 + urls++).toString(36)}`;

/** How long drawing an image takes, and how long it blocks the event loop. */
export async function benchImages({ repetitions = 40 } = {}): Promise<BenchRow[]> {
  const contestants = {
    peer: () => QRCode.toBuffer(nextUrl(), { width: 512, errorCorrectionLevel: 'M' }),
    styledPng: () => drawPng(nextUrl(), styled, 512),
    squarePng: () => drawPng(nextUrl(), {}, 512),
    styledSvg: async () => drawSvg(nextUrl(), styled, 512),
    framedPng: () => drawFramed(nextUrl(), logoIds[0] as string),
    newLogoPng: () => drawFramed(nextUrl(), `new_${urls}`),
  };
  const times = await medianTimesMs(repetitions, contestants, { warmUpRounds: 5 });
  const logoMemory = await memoryOfLogos();
  const { drawing, idle } = await blockedByLargest(Math.ceil(repetitions / 4));
  const longest = longestOf(drawing);
  const against = `qrcode.toBuffer, 512 px: ${ms(times.peer)}`;
  const compared = (time: number) => ({ figure: ms(time), against, ratio: times.peer / time });
  return [
    boundedRow(
      { what: 'PNG 512 px, styled, first draw', ...compared(times.styledPng) },
      { target: 3, goal: 15, kind: 'min', unit: ' × faster' },
    ),
    unboundedRow({ what: 'PNG 512 px, square, first draw', ...compared(times.squarePng) }),
    unboundedRow({ what: 'SVG, styled, first draw', ...compared(times.styledSvg) }),
    boundedRow(
      {
        what: 'PNG 512 × 578 px, styled, with logo and frame: another code with the same ones',
        figure: ms(times.framedPng),
        against: `512 × 512 px without them: ${ms(times.styledPng)}`,
        ratio: times.framedPng / times.styledPng,
      },
      { target: 3, goal: 2, kind: 'max', unit: ' ×' },
    ),
    unboundedRow({
      what: 'PNG 512 × 578 px, styled, with logo and frame: first code with a new logo',
      figure: ms(times.newLogoPng),
      against: `512 × 512 px without them: ${ms(times.styledPng)}`,
      ratio: times.newLogoPng / times.styledPng,
    }),
    boundedRow(
      {
        what: `PNG 512 px of codes with ${logoIds.length} different logos: memory added`,
        figure: `${logoMemory.toFixed(0)} MB`,
        against: 'fixed cache of drawn logos and frames: 8 MB',
        ratio: null,
        value: logoMemory,
      },
      { target: 200, goal: 100, kind: 'max', unit: ' MB' },
    ),
    boundedRow(
      {
        what: 'PNG 2048 px, styled, first draw: longest stall of the event loop',
        figure: `${stallText(longest)}, median ${ms(median(drawing.map(({ ownMs }) => ownMs)))}`,
        against: `idle event loop: ${stallText(longestOf(idle))}`,
        ratio: null,
        value: longest.ownMs,
      },
      { target: 50, goal: 10, kind: 'max', unit: ' ms' },
    ),
    ...(await benchPrint(repetitions)),
  ];
}

const logoIds = Array.from({ length: 1_000 }, (_, i) => `logo_${String(i).padStart(22, '0')}`);
const logoSidePx = 256;
const logo: Promise<LogoArt> = noise(logoSidePx).then((png) => ({
  kind: 'raster' as const,
  width: logoSidePx,
  height: logoSidePx,
  png,
}));

/** Pixels that do not compress, like the pixels of a photo. */
function noise(side: number) {
  const rgba = new Uint8Array(side * side * 4).map((_, i) => (i % 4 === 3 ? 255 : (i * 2_654_435_761) >>> 24));
  return encodePixels({ width: side, height: side, rgba });
}

async function drawFramed(url: string, id: string) {
  const style = { ...styled, logo: { id, size: 0.25 }, frame: { type: 'label-bottom', text: 'Scan me' } } as const;
  return drawQrImage({ url, style, format: 'png', size: 512, logo: await logo });
}

async function memoryOfLogos(): Promise<number> {
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  for (const id of logoIds) await drawFramed(nextUrl(), id);
  Bun.gc(true);
  return Math.max(0, process.memoryUsage().rss - before) / 1024 / 1024;
}

/** Watches an idle event loop for as long as each drawing takes, to show how much of a stall the machine causes. */
async function blockedByLargest(repetitions: number): Promise<{ drawing: Stall[]; idle: Stall[] }> {
  const renderer = new Renderer();
  const draw = (image: QrImage) => renderer.run('image', () => image, { account: 'bench' });
  const drawing: Stall[] = [];
  const idle: Stall[] = [];
  for (let i = 0; i < repetitions; i++) {
    const style = { ...styled, dotsType: i % 2 ? 'dots' : 'extra-rounded' } as const;
    const started = performance.now();
    drawing.push(await longestStall(() => draw({ url: nextUrl(), style, format: 'png', size: 2048 })));
    const elapsed = performance.now() - started;
    idle.push(await longestStall(() => setTimeout(elapsed)));
  }
  renderer.close();
  return { drawing, idle };
}

const longestOf = (stalls: Stall[]): Stall => ({
  wallMs: Math.max(...stalls.map(({ wallMs }) => wallMs)),
  ownMs: Math.max(...stalls.map(({ ownMs }) => ownMs)),
});

const ms = (value: number) => `${value.toFixed(2)} ms`;
