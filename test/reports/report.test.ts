import { PDFiumLibrary } from '@hyzyla/pdfium';
import { expect, test } from 'vitest';
import { languages, pdfLanguages } from '../../events/languages.ts';
import frameFont from '../../src/qr/frame-font.json' with { type: 'json' };
import { missingCharacters } from '../../src/qr/text.ts';
import { roundedUp } from '../../src/reports/chart.ts';
import { writeReportCsv } from '../../src/reports/csv.ts';
import { writeReportPdf } from '../../src/reports/pdf.ts';
import { fileNameOf, type ReportContent, writingIn } from '../../src/reports/report.ts';

const rows = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => ({
    name: `${name} ${i}`,
    scans: 1_000 - i,
    visitors: 900 - i,
    scansBefore: i * 90,
  }));

const report = (fields: Partial<ReportContent> = {}): ReportContent => ({
  name: 'Summer campaign',
  owner: 'Café Süd',
  logo: { kind: 'vector', width: 20, height: 10, paths: [{ d: 'M0 0L20 0L20 10L0 10Z', fill: '#FF0000' }] },
  language: 'en',
  every: 'week',
  timezone: 'Europe/Berlin',
  period: { first: '2026-11-09', last: '2026-11-15' },
  before: { first: '2026-11-02', last: '2026-11-08' },
  totals: { scans: 1234, visitors: 900 },
  totalsBefore: { scans: 1000, visitors: 950 },
  days: Array.from({ length: 7 }, (_, i) => ({ date: `2026-11-${String(9 + i).padStart(2, '0')}`, scans: i * 40 })),
  daysBefore: [10, 20, 30, 40, 50, 60, 70],
  codes: rows(3, 'Table'),
  otherCodes: 0,
  countries: rows(3, 'Country'),
  cities: [],
  devices: rows(2, 'Device'),
  browsers: rows(2, 'Browser'),
  ...fields,
});

/** Counts the pixels of each color on each page. */
async function pagesOf(file: Uint8Array, ...colors: [number, number, number][]): Promise<number[][]> {
  library ??= PDFiumLibrary.init();
  const document = await (await library).loadDocument(file);
  const pages: number[][] = [];
  for (const page of document.pages()) {
    const { data } = await page.render({ scale: 0.5, render: 'bitmap' });
    const counts = colors.map(() => 0);
    for (let i = 0; i < data.length; i += 4)
      for (const [j, color] of colors.entries())
        if (color.every((channel, k) => Math.abs((data[i + k] as number) - channel) < 3))
          counts[j] = (counts[j] ?? 0) + 1;
    pages.push(counts);
  }
  document.destroy();
  return pages;
}

let library: ReturnType<typeof PDFiumLibrary.init> | undefined;

test('a report has a cover with the logo and a chart, and tables on as many pages as they need', async () => {
  const file = writeReportPdf(report({ codes: rows(50, 'Table') }));
  expect(Buffer.from(file.subarray(0, 8)).toString('latin1')).toBe('%PDF-1.4');
  const pages = await pagesOf(file, [255, 0, 0], [15, 118, 110], [213, 232, 229]);
  expect(pages.map((counts) => counts.map((count) => count > 50))).toEqual([
    [true, true, false],
    [false, false, true],
    [false, false, true],
  ]);
});

test('the same report gives the same bytes, and one without scans, logo and letters of the font is still one', async () => {
  expect(writeReportPdf(report())).toEqual(writeReportPdf(report()));
  const empty = report({
    name: '東京のメニュー',
    owner: '☕',
    logo: undefined,
    totals: { scans: 0, visitors: 0 },
    totalsBefore: { scans: 0, visitors: 0 },
    days: [{ date: '2026-11-09', scans: 0 }],
    daysBefore: [],
    codes: [],
    countries: [],
    devices: [],
    browsers: [],
  });
  expect(await pagesOf(writeReportPdf(empty))).toEqual([[]]);
});

test('texts of figures', () => {
  const { change, period } = writingIn('en');
  expect([change(112, 100), change(97, 100), change(5, 5), change(3, 0), change(1015, 1000)]).toEqual([
    '+12 %',
    '−3 %',
    'no change',
    'new',
    '+1.5 %',
  ]);
  expect(period({ first: '2026-11-09', last: '2026-11-15' }, 'week')).toBe('9 – 15 November 2026');
  expect(period({ first: '2026-12-28', last: '2027-01-03' }, 'week')).toBe('28 December 2026 – 3 January 2027');
  expect(period({ first: '2026-11-01', last: '2026-11-30' }, 'month')).toBe('November 2026');
  expect(fileNameOf({ name: '../Menü "Süd"\r\n', period: { first: '2026-11-01', last: '' } }, 'pdf')).toBe(
    'menu-sud-2026-11-01.pdf',
  );
  expect([0, 3, 4, 7, 41, 99, 100, 101, 4_321].map(roundedUp)).toEqual([4, 4, 4, 8, 80, 100, 100, 200, 8_000]);
});

test('figures and dates are written as in the language of the report', () => {
  const { count, average, change, period, title } = writingIn('de');
  expect([count(12_345), average(1.25), change(1015, 1000), change(1, 1), title('month')]).toEqual([
    '12.345',
    '1,3',
    '+1,5 %',
    'unverändert',
    'Monatsbericht',
  ]);
  expect(period({ first: '2026-11-01', last: '2026-11-30' }, 'month')).toBe('November 2026');
  expect(period({ first: '2026-03-09', last: '2026-03-15' }, 'week')).toMatch(/^9\.\s?–\s?15\. März 2026$/u);
});

/** Everything that a report can say in a language: its words, figures, dates and the names of countries. */
function lettersOf(language: string): string {
  const { common, words, count, average, period, day } = writingIn(language);
  const months = Array.from({ length: 12 }, (_, i) => `2026-${String(i + 1).padStart(2, '0')}`);
  const texts = [...Object.values(common), ...Object.values(common.notes), ...Object.values(words)].map((word) =>
    typeof word === 'function' ? String((word as (...parts: unknown[]) => string)(1, 2)) : String(word),
  );
  const countries = new Intl.DisplayNames(language, { type: 'region' });
  const codes = ['AX', 'CI', 'CW', 'CZ', 'RE', 'ST', 'TR', 'VN', 'GB', 'US', 'CN', 'AE'];
  return [
    ...texts,
    count(1_234_567),
    average(1_234.5),
    ...months.map((month) => period({ first: `${month}-01`, last: `${month}-07` }, 'week')),
    ...months.map((month) => period({ first: `${month}-01`, last: `${month}-28` }, 'month')),
    ...Array.from({ length: 7 }, (_, i) => day(`2026-11-0${i + 1}`)),
    ...codes.map((code) => countries.of(code)),
  ].join('');
}

test.each(languages)(
  'the font of PDF files has all letters of a language that they offer, and not of %s otherwise',
  (language) => {
    const missing = missingCharacters(lettersOf(language), frameFont);
    if (pdfLanguages.includes(language)) expect(missing).toEqual([]);
    else expect(missing.length).toBeGreaterThan(20);
  },
);

test('a report in another language is another file', async () => {
  const file = writeReportPdf(report({ language: 'de', codes: rows(50, 'Tisch'), otherCodes: 3 }));
  expect(file).not.toEqual(writeReportPdf(report({ codes: rows(50, 'Tisch'), otherCodes: 3 })));
  expect(await pagesOf(file)).toHaveLength(3);
});

test('CSV has one figure a line, and no formulas', () => {
  const text = new TextDecoder().decode(
    writeReportCsv(report({ codes: [{ name: '=HYPERLINK("x")', scans: 3, visitors: 2, scansBefore: 1 }] })),
  );
  const lines = text.split('\r\n');
  expect(lines[0]).toBe('table,name,scans,visitors,scans_before');
  expect(lines[1]).toBe('period,2026-11-09/2026-11-15,1234,900,1000');
  expect(lines).toContain(`codes,"'=HYPERLINK(""x"")",3,2,1`);
  expect(lines).toContain('days,2026-11-10,40,,');
});
