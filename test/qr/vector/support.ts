import { PDFiumLibrary } from '@hyzyla/pdfium';
import { Resvg } from '@resvg/resvg-js';
import type { Style } from '../../../events/style.ts';
import type { LogoArt } from '../../../src/qr/logo-art.ts';

/** Styles with everything that an image can have. */
export const printStyles: [name: string, style: Style, logo?: LogoArt][] = [
  ['square', {}],
  ['round, in three colors', { dotsType: 'dots', cornersSquareType: 'extra-rounded', cornersSquareColor: '#9B2226' }],
  [
    'gradients',
    {
      dotsType: 'rounded',
      dotsGradient: {
        type: 'linear',
        rotation: 0.7,
        colorStops: [
          { offset: 0, color: '#7A1F4B' },
          { offset: 0.5, color: '#12406B' },
          { offset: 1, color: '#0B5D45' },
        ],
      },
      backgroundGradient: {
        type: 'radial',
        colorStops: [
          { offset: 0, color: '#FFFFFF' },
          { offset: 1, color: '#FFE8C0' },
        ],
      },
    },
  ],
  ['raster logo and frame', { logo: { id: 'logo_1' }, frame: { type: 'label-bottom', text: 'Меню' } }, rasterLogo()],
  ['vector logo, transparent', { backgroundColor: 'transparent', logo: { id: 'logo_1' } }, vectorLogo()],
];

function rasterLogo(): LogoArt {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle cx="20" cy="20" r="18" fill="#D33" fill-opacity=".8"/></svg>';
  return {
    kind: 'raster',
    width: 40,
    height: 40,
    png: new Uint8Array(new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng()),
  };
}

function vectorLogo(): LogoArt {
  const clips = [{ d: 'M0 0L100 0L100 55L0 55Z' }];
  const stops = [
    { offset: 0, color: '#0000FF' },
    { offset: 1, color: '#FF0000', opacity: 0.5 },
  ];
  return {
    kind: 'vector',
    width: 100,
    height: 100,
    paths: [
      { d: 'M0 0L100 0L100 100L0 100Z', fill: { type: 'linear', x1: 0, y1: 0, x2: 100, y2: 100, stops } },
      { d: 'M20 20L80 20L80 80L20 80Z', opacity: 0.6, stroke: { color: '#000000', width: 6, dashes: [10, 5] } },
      { d: 'M50 30L70 70L30 70Z', fill: '#FF8800', fillRule: 'evenodd', clips },
    ],
  };
}

/** Every page of a PDF file as PDFium draws it on white paper, one byte per pixel. */
export async function rasterizePdf(pdf: Uint8Array, dpi: number) {
  library ??= PDFiumLibrary.init();
  const document = await (await library).loadDocument(pdf);
  const pages: { width: number; height: number; data: Uint8Array }[] = [];
  for (const page of document.pages()) {
    const { width, height, data } = await page.render({ scale: dpi / 72, render: 'bitmap', colorSpace: 'Gray' });
    pages.push({ width, height, data });
  }
  document.destroy();
  return pages;
}

let library: ReturnType<typeof PDFiumLibrary.init> | undefined;
