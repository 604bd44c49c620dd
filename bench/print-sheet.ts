import { writeFile } from 'node:fs/promises';
import { Resvg } from '@resvg/resvg-js';
import type { Style } from '../events/style.ts';
import frameFont from '../src/qr/frame-font.json' with { type: 'json' };
import type { VectorLogo } from '../src/qr/logo-art.ts';
import { drawSvg } from '../src/qr/svg.ts';
import { textPath } from '../src/qr/text.ts';

const cellWidth = 300;
const cellHeight = 400;
const columns = 4;
const id = `logo_${'0'.repeat(22)}`;
const colorStops = [
  { offset: 0, color: '#0B5D45' },
  { offset: 1, color: '#7A1F4B' },
];
const cup: VectorLogo = {
  kind: 'vector',
  width: 1000,
  height: 1000,
  paths: [
    { d: 'M 150 350 L 750 350 L 680 850 L 220 850 Z', fill: '#A9441F' },
    {
      d: 'M 750 430 C 950 430 950 680 715 680',
      stroke: { color: '#A9441F', width: 70, cap: 'round' },
    },
    { d: 'M 350 250 C 300 180 400 150 350 80', stroke: { color: '#3B2A24', width: 40, cap: 'round' } },
    { d: 'M 550 250 C 500 180 600 150 550 80', stroke: { color: '#3B2A24', width: 40, cap: 'round' } },
  ],
};
const round = { dotsType: 'rounded', cornersSquareType: 'extra-rounded', cornersDotType: 'dot' } as const;

const cells: [label: string, style: Style][] = [
  ['logo, square', { logo: { id, size: 0.25 } }],
  ['logo, circle', { ...round, logo: { id, size: 0.3, shape: 'circle', background: '#FBF3EA' } }],
  ['logo, no plate', { dotsType: 'dots', logo: { id, size: 0.25, shape: 'none' } }],
  ['linear gradient', { ...round, dotsGradient: { type: 'linear', rotation: 0.785, colorStops } }],
  ['radial gradient', { dotsGradient: { type: 'radial', colorStops } }],
  [
    'background gradient',
    {
      backgroundGradient: {
        type: 'linear',
        rotation: 1.571,
        colorStops: [
          { offset: 0, color: '#FFFFFF' },
          { offset: 1, color: '#FFD7A8' },
        ],
      },
    },
  ],
  ['transparent', { backgroundColor: 'transparent' }],
  ['quiet zone 1, error correction H', { quietZone: 1, errorCorrection: 'H' }],
  ['box', { frame: { type: 'box' } }],
  ['box with text', { ...round, frame: { type: 'box', text: 'Σκάναρε με', color: '#12406B' } }],
  ['label-top', { dotsColor: '#12406B', frame: { type: 'label-top', text: 'Отсканируй меня' } }],
  ['label-bottom, logo', { ...round, logo: { id }, frame: { type: 'label-bottom', text: 'Scan me' } }],
  ['bubble', { ...round, frame: { type: 'bubble', text: 'View the menu', color: '#A9441F' } }],
  ['two lines', { frame: { type: 'label-bottom', text: 'Zeskanuj, aby zobaczyć nasze letnie menu' } }],
  ['light frame', { frame: { type: 'label-bottom', text: 'Đặt bàn', color: '#FFD166' } }],
  [
    'all of it',
    {
      ...round,
      dotsGradient: { type: 'linear', rotation: 0.785, colorStops },
      logo: { id, size: 0.25, shape: 'circle' },
      frame: { type: 'bubble', text: 'Спробуйте', color: '#0B5D45' },
    },
  ],
];

/** A PNG that shows logos, gradients and frames. */
export function printSheet(): Uint8Array {
  const width = columns * cellWidth;
  const height = Math.ceil(cells.length / columns) * cellHeight;
  const drawn = cells.map(([label, style], i) => {
    const [x, y] = [(i % columns) * cellWidth, Math.floor(i / columns) * cellHeight];
    const picture = drawSvg('https://scan.example.com/aB3xY7z', style, 260, {
      logo: style.logo && cup,
      font: frameFont,
    });
    const area = { x: x + 20, y: y + cellHeight - 44, width: cellWidth - 40, height: 28 };
    return [
      picture.replace('<svg ', `<svg x="${x + 20}" y="${y + 20}" `),
      `<path fill="#212529" d="${textPath(label, area, 9, frameFont)}"/>`,
    ].join('');
  });
  const sheet = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="#E3E7EA"/>${drawn.join('')}</svg>`;
  return new Resvg(sheet, { font: { loadSystemFonts: false } }).render().asPng();
}

if (import.meta.main) {
  const path = process.argv[2] ?? 'print-sheet.png';
  await writeFile(path, printSheet());
  console.log(path);
}
