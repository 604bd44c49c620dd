import { setTimeout } from 'node:timers/promises';
import QRCode from 'qrcode';
import { drawPng } from '../src/qr/png.ts';
import { drawSvg } from '../src/qr/svg.ts';
import { type BenchRow, median, rowOf, toldRow } from './row.ts';

const STYLED = {
  dotsType: 'extra-rounded',
  dotsColor: '#14213D',
  cornersSquareType: 'extra-rounded',
  cornersSquareColor: '#9B2226',
  cornersDotType: 'dot',
} as const;

/** Every drawing is of a URL that was never drawn before. */
let drawn = 0;
const nextUrl = () => `https://scan.example.com/${(1_000_000 + drawn++).toString(36)}`;

/** Draws pictures and measures how long that takes, and how long it keeps the event loop from anything else. */
export async function benchImages({ repetitions = 40 }: { repetitions?: number } = {}): Promise<BenchRow[]> {
  const contestants = {
    peer: () => QRCode.toBuffer(nextUrl(), { width: 512, errorCorrectionLevel: 'M' }),
    styled: () => drawPng(nextUrl(), STYLED, 512),
    square: () => drawPng(nextUrl(), {}, 512),
    svg: async () => drawSvg(nextUrl(), STYLED, 512),
  };
  const times = await interleaved(contestants, repetitions);
  const [peer, styled, square, svg] = [times.peer, times.styled, times.square, times.svg].map(median) as Four;
  const { drawing, idle } = await stallsOfLargest(Math.ceil(repetitions / 4));
  const stall = Math.max(...drawing);
  const against = `qrcode.toBuffer, 512 px: ${ms(peer)}`;
  const faster = (figure: number) => ({ figure: ms(figure), against, ratio: peer / figure });
  return [
    rowOf(
      { what: 'PNG 512 px, styled, first draw', ...faster(styled), value: peer / styled },
      { target: 3, goal: 15, kind: 'least', unit: ' × faster' },
    ),
    toldRow({ what: 'PNG 512 px, square, first draw', ...faster(square) }),
    toldRow({ what: 'SVG, styled, first draw', ...faster(svg) }),
    rowOf(
      {
        what: 'PNG 2048 px, styled, first draw: longest stall of the event loop',
        figure: `${ms(stall)} (median ${ms(median(drawing))})`,
        against: `a loop with nothing to do: ${ms(Math.max(...idle))}`,
        ratio: null,
        value: stall,
      },
      { target: 50, goal: 10, kind: 'most', unit: ' ms' },
    ),
  ];
}

type Four = [number, number, number, number];

/** Times of each contestant, run in turn so that what the machine does meanwhile hits all of them alike. */
async function interleaved<K extends string>(
  contestants: Record<K, () => Promise<unknown>>,
  repetitions: number,
): Promise<Record<K, number[]>> {
  const entries = Object.entries(contestants) as [K, () => Promise<unknown>][];
  const times = Object.fromEntries(entries.map(([name]) => [name, []])) as unknown as Record<K, number[]>;
  for (let i = -5; i < repetitions; i++) {
    for (const [name, run] of entries) {
      const started = performance.now();
      await run();
      // The first few only warm up.
      if (i >= 0) times[name].push(performance.now() - started);
    }
  }
  return times;
}

/** A loop with nothing to do is watched as long as each drawing takes: its stalls are the machine's, not ours. */
async function stallsOfLargest(repetitions: number): Promise<{ drawing: number[]; idle: number[] }> {
  const drawing: number[] = [];
  const idle: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const style = { ...STYLED, dotsType: i % 2 ? 'dots' : 'extra-rounded' } as const;
    const started = performance.now();
    drawing.push(await longestStall(() => drawPng(nextUrl(), style, 2048)));
    const took = performance.now() - started;
    idle.push(await longestStall(() => setTimeout(took)));
  }
  return { drawing, idle };
}

async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(look);
  };
  setImmediate(look);
  await work();
  running = false;
  return Math.max(longest, performance.now() - last);
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}
