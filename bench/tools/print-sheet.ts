import { writeFile } from 'node:fs/promises';
import { Resvg } from '@resvg/resvg-js';
import type { Style } from '../../events/style.ts';
import frameFont from '../../src/qr/frame-font.json' with { type: 'json' };
import type { VectorLogo } from '../../src/qr/logo-art.ts';
import { writePathData } from '../../src/qr/path-data.ts';
import { pixelSceneOf } from '../../src/qr/scene.ts';
import { writeSvg } from '../../src/qr/svg.ts';
import { textPath } from '../../src/qr/text.ts';

const imageWidth = 260;
const gap = 40;
const captionHeight = 44;
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

type Cell = readonly [label: string, style: Style];

const cells: readonly Cell[] = [
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

/** For the top of the README. */
const examples = ['logo, circle', 'linear gradient', 'label-bottom, logo', 'all of it'];

/** A PNG of all cells with captions, or of some without. */
function printSheet(shown: readonly Cell[], { hasCaptions }: { hasCaptions: boolean }): Uint8Array {
  const width = columns * (imageWidth + gap);
  let top = gap / 2;
  const rows: string[] = [];
  for (let first = 0; first < shown.length; first += columns) {
    const row = shown.slice(first, first + columns).map(([label, style]) => ({ label, ...drawCell(style) }));
    const height = Math.max(...row.map((cell) => cell.height));
    for (const [column, cell] of row.entries()) {
      const x = column * (imageWidth + gap) + gap / 2;
      // Images of a row end at the same height, above their captions.
      rows.push(cell.svg.replace('<svg ', `<svg x="${x}" y="${top + height - cell.height}" `));
      const area = { x, y: top + height + 4, width: imageWidth, height: 28 };
      if (hasCaptions)
        rows.push(`<path fill="#212529" d="${writePathData(textPath(cell.label, area, 9, frameFont))}"/>`);
    }
    top += height + (hasCaptions ? captionHeight : gap / 2);
  }
  const sheet = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}"><rect width="${width}" height="${top}" fill="#E3E7EA"/>${rows.join('')}</svg>`;
  return new Resvg(sheet, { font: { loadSystemFonts: false } }).render().asPng();
}

function drawCell(style: Style): { svg: string; height: number } {
  const options = { logo: style.logo && cup, font: frameFont };
  const { scene, layout } = pixelSceneOf('https://scan.example.com/aB3xY7z', style, imageWidth, options);
  return { svg: writeSvg(scene, layout, ''), height: layout.height };
}

if (import.meta.main) {
  const folder = process.argv[2] ?? '.';
  await writeFile(`${folder}/print.png`, printSheet(cells, { hasCaptions: true }));
  const some = cells.filter(([label]) => examples.includes(label));
  await writeFile(`${folder}/codes.png`, printSheet(some, { hasCaptions: false }));
}
