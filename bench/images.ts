import { setTimeout } from 'node:timers/promises';
import QRCode from 'qrcode';
import { createDrawing } from '../src/qr/drawing.ts';
import { drawPng } from '../src/qr/png.ts';
import { drawSvg } from '../src/qr/svg.ts';
import { longestStallMs } from './longest-stall.ts';
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
  };
  const times = await medianTimesMs(repetitions, contestants, { warmUpRounds: 5 });
  const { drawing, idle } = await blockedByLargest(Math.ceil(repetitions / 4));
  const longest = Math.max(...drawing);
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
        what: 'PNG 2048 px, styled, first draw: longest stall of the event loop',
        figure: `${ms(longest)} (median ${ms(median(drawing))})`,
        against: `idle event loop: ${ms(Math.max(...idle))}`,
        ratio: null,
        value: longest,
      },
      { target: 50, goal: 10, kind: 'max', unit: ' ms' },
    ),
    ...(await benchPrint(repetitions)),
  ];
}

/** Watches an idle event loop for as long as each drawing takes, to show how much of a stall the machine causes. */
async function blockedByLargest(repetitions: number): Promise<{ drawing: number[]; idle: number[] }> {
  const { draw, close } = createDrawing();
  const drawing: number[] = [];
  const idle: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const style = { ...styled, dotsType: i % 2 ? 'dots' : 'extra-rounded' } as const;
    const started = performance.now();
    drawing.push(await longestStallMs(() => draw({ url: nextUrl(), style, format: 'png', size: 2048 })));
    const elapsed = performance.now() - started;
    idle.push(await longestStallMs(() => setTimeout(elapsed)));
  }
  await close();
  return { drawing, idle };
}

const ms = (value: number) => `${value.toFixed(2)} ms`;
