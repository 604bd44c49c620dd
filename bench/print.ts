import { setTimeout } from 'node:timers/promises';
import type { Style } from '../events/style.ts';
import { createProofs } from '../src/proof/proofs.ts';
import { drawQrImage } from '../src/qr/image.ts';
import { stockLayouts } from '../src/qr/sheet/layouts.ts';
import type { SheetPage } from '../src/qr/sheet/sheet-page.ts';
import { writeSheets } from '../src/qr/sheet/sheets.ts';
import { Renderer } from '../src/render/renderer.ts';
import { longestStall, type Stall, stallText } from './longest-stall.ts';
import { medianTimesMs } from './median-times.ts';
import { type BenchRow, boundedRow, median, ms } from './row.ts';

const account = 'bench';
const labels = 1_000;
const layout = stockLayouts['a4-3x8'];

const styled = { dotsType: 'extra-rounded', dotsColor: '#14213D', cornersSquareType: 'extra-rounded' } as const;

let urls = 0;
const nextUrl = () => `https://scan.example.com/${(1_000_000 + urls++).toString(36)}`;

/** How long files for print and proofs take, and how long they block the event loop. */
export async function benchPrint(repetitions: number): Promise<BenchRow[]> {
  const drawPdf = (style: Style) => drawQrImage({ url: nextUrl(), style, format: 'pdf', size: 0 });
  const pdfs = { styled: () => drawPdf(styled), round: () => drawPdf({ ...styled, dotsType: 'dots' }) };
  const times = await medianTimesMs(repetitions, pdfs, { warmUpRounds: 5 });
  const proofs = await proofTimes(Math.ceil(repetitions / 2));
  const sheet = await sheetTimes();
  const idle = await longestStall(() => setTimeout(1_000));
  return [
    boundedRow(
      {
        what: 'PDF, styled, and with round dots, first draw',
        figure: `${ms(times.styled)}; ${ms(times.round)}`,
        against: '–',
        ratio: null,
        value: Math.max(times.styled, times.round),
      },
      { target: 5, goal: 2, kind: 'max', unit: ' ms' },
    ),
    boundedRow(
      {
        what: 'preflight of a style, warm',
        figure: `${ms(median(proofs.timesMs))} (longest ${ms(Math.max(...proofs.timesMs))})`,
        against: '–',
        ratio: null,
        value: median(proofs.timesMs),
      },
      { target: 150, goal: 75, kind: 'max', unit: ' ms' },
    ),
    boundedRow(
      {
        what: `sheet of ${labels.toLocaleString('en')} labels with captions`,
        figure: `${(sheet.timeMs / 1000).toFixed(1)} s, ${(sheet.bytes / 2 ** 20).toFixed(1)} MiB`,
        against: '–',
        ratio: null,
        value: sheet.timeMs / 1000,
      },
      { target: 10, goal: 4, kind: 'max', unit: ' s' },
    ),
    boundedRow(
      {
        what: 'preflight and sheet: longest stall of the event loop',
        figure: `${stallText(proofs.stall)}; ${stallText(sheet.stall)}`,
        against: `idle event loop: ${stallText(idle)}`,
        ratio: null,
        value: Math.max(proofs.stall.ownMs, sheet.stall.ownMs),
      },
      { target: 10, goal: 5, kind: 'max', unit: ' ms' },
    ),
  ];
}

/** A new color for every proof, so that none is cached. */
async function proofTimes(repetitions: number): Promise<{ timesMs: number[]; stall: Stall }> {
  const renderer = new Renderer();
  const proofs = createProofs((request) => renderer.run('proof', () => request, { account }));
  const prove = (i: number) =>
    proofs.of(account, { ...styled, dotsColor: `#0000${(i % 100).toString(16).padStart(2, '0')}` }, nextUrl());
  for (let i = 0; i < 8; i++) await prove(90 + i);
  const timesMs: number[] = [];
  const stall = await longestStall(async () => {
    for (let i = 0; i < repetitions; i++) {
      const started = performance.now();
      await prove(i);
      timesMs.push(performance.now() - started);
    }
  });
  renderer.close();
  return { timesMs, stall };
}

async function sheetTimes(): Promise<{ timeMs: number; bytes: number; stall: Stall }> {
  const renderer = new Renderer();
  const write = async (count: number) => {
    let bytes = 0;
    const part = async (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({ url: nextUrl(), style: styled, caption: `Table ${from + i}` }));
    const sheet = { layout, color: 'rgb', skip: 0, title: 'Labels', labels: async () => ({ count, part }) } as const;
    const drawPage = (load: () => Promise<SheetPage>) => renderer.run('page', load, { account });
    for await (const piece of writeSheets(sheet, drawPage)) bytes += piece.length;
    return bytes;
  };
  await write(50);
  let bytes = 0;
  const started = performance.now();
  const stall = await longestStall(async () => {
    bytes = await write(labels);
  });
  const timeMs = performance.now() - started;
  renderer.close();
  return { timeMs, bytes, stall };
}
