import { pointsOf } from '../qr/vector/numbers.ts';
import { addPage, endPdf } from '../qr/vector/pdf.ts';
import { PdfFile } from '../qr/vector/pdf-file.ts';
import { PdfParts } from '../qr/vector/pdf-parts.ts';
import { drawChart, drawLegend } from './chart.ts';
import { colors } from './colors.ts';
import { linesOf, pageMm, printable, ReportPage } from './page.ts';
import { type ReportContent, type ReportWriting, writingIn } from './report.ts';
import { type ReportTable, tablesOf } from './tables.ts';

const marginMm = 20;
const widthMm = pageMm.width - 2 * marginMm;
const bottomMm = pageMm.height - 24;
const rowMm = 6.4;
const headMm = 16;
const maxUnsplitRows = 10;

const body = { sizeMm: 3.3, color: colors.text } as const;
const muted = { sizeMm: 3.3, color: colors.muted } as const;
const small = { sizeMm: 2.8, color: colors.muted } as const;

/** Writes a report as a PDF file of A4 pages. The same report gives the same bytes. */
export function writeReportPdf(report: ReportContent): Uint8Array<ArrayBuffer> {
  const writing = writingIn(report.language);
  const pages = [drawCover(report, writing), ...drawTables(tablesOf(report, writing))];
  const file = new PdfFile();
  const parts = new PdfParts(file);
  const tree = file.reserve();
  const size: [number, number] = [pointsOf(pageMm.width), pointsOf(pageMm.height)];
  const written = pages.map((page, i) => {
    drawFooter(page, report, writing, writing.words.page(i + 1, pages.length));
    const { content, parts: used } = page.content();
    return addPage(file, tree, size, content, parts.add(used));
  });
  endPdf(file, tree, written, `${report.name}, ${writing.period(report.period, report.every)}`);
  return file.take();
}

function drawCover(report: ReportContent, writing: ReportWriting): ReportPage {
  const { logo, owner, name, every, timezone } = report;
  const { common, words } = writing;
  const [period, before] = [writing.period(report.period, every), writing.period(report.before, every)];
  const title = writing.title(every);
  const page = new ReportPage();
  let y = 22;
  if (logo !== undefined) {
    page.image(logo, { x: marginMm, y, width: 60, height: 22 });
    y += 32;
  }
  page.text(linesOf(printable(owner, 'Scanlog'), widthMm, 4, 1)[0] ?? '', marginMm, y + 3, { ...muted, sizeMm: 4 });
  y += 16;
  for (const line of linesOf(printable(name, title), widthMm, 9, 3)) {
    page.text(line, marginMm, y, { sizeMm: 9, color: colors.text });
    y += 11;
  }
  page.text(`${title}: ${period}`, marginMm, y, { sizeMm: 4.6, color: colors.text });
  const zone = common.notes.timezone.replace('%', timezone);
  page.text(`${words.comparedWith(before)} ${common.notes.withoutBots} ${zone}`, marginMm, y + 7, muted);
  y += 18;
  drawTotals(page, report, writing, y);
  y += 36;
  page.text(common.perDay, marginMm, y, { sizeMm: 4.6, color: colors.text });
  drawLegend(page, marginMm, y + 7, { now: period, before });
  drawChart(page, report, writing, { x: marginMm, y: y + 14, width: widthMm, height: 78 });
  return page;
}

function drawTotals(
  page: ReportPage,
  { totals, totalsBefore, days, daysBefore }: ReportContent,
  { common, words, count, average, change }: ReportWriting,
  y: number,
): void {
  const perDay = (scans: number, count: number) => scans / Math.max(count, 1);
  const [now, before] = [perDay(totals.scans, days.length), perDay(totalsBefore.scans, daysBefore.length)];
  const cards = [
    [common.scans, totals.scans, totalsBefore.scans, count],
    [common.visitors, totals.visitors, totalsBefore.visitors, count],
    [common.perDay, now, before, average],
  ] as const;
  const gapMm = 5;
  const cardMm = (widthMm - 2 * gapMm) / cards.length;
  for (const [i, [label, figure, figureBefore, written]] of cards.entries()) {
    const x = marginMm + i * (cardMm + gapMm);
    page.rect({ x, y, width: cardMm, height: 0.6 }, colors.bar);
    page.text(label, x, y + 6.5, muted);
    page.text(written(figure), x, y + 16.5, { sizeMm: 9, color: colors.text });
    page.text(`${change(figure, figureBefore)} (${words.before(written(figureBefore))})`, x, y + 23, small);
  }
}

/** Tables one below the other, on as many pages as they need. */
function drawTables(tables: readonly ReportTable[]): ReportPage[] {
  const pages: ReportPage[] = [];
  let y = bottomMm;
  let page = new ReportPage();
  const turnPage = () => {
    page = new ReportPage();
    pages.push(page);
    y = marginMm;
  };
  for (const table of tables) {
    // A short table is not split, and a heading never stands alone at the end of a page.
    const minRows = table.rows.length <= maxUnsplitRows ? table.rows.length : 2;
    if (y + headMm + minRows * rowMm > bottomMm) turnPage();
    y = drawHead(page, table, y);
    for (const row of table.rows) {
      if (y + rowMm > bottomMm) {
        turnPage();
        y = drawHead(page, table, y);
      }
      drawRow(page, table, row, y);
      y += rowMm;
    }
    if (table.note !== undefined) page.text(table.note, marginMm, y + 4.5, small);
    y += headMm;
  }
  return pages;
}

const columnMm = 24;
/** Where the right end of a column of figures is; the last one is at the margin. */
const rightOf = (index: number, count: number) => marginMm + widthMm - (count - 1 - index) * columnMm;

function drawHead(page: ReportPage, { title, columns }: ReportTable, y: number): number {
  page.text(title, marginMm, y + 5, { sizeMm: 4.6, color: colors.text });
  for (const [i, column] of columns.entries())
    page.text(column, rightOf(i, columns.length), y + 5, { ...small, align: 'right' });
  page.rect({ x: marginMm, y: y + 7.5, width: widthMm, height: 0.3 }, colors.muted);
  return y + 8.5;
}

function drawRow(
  page: ReportPage,
  { columns }: ReportTable,
  { name, figures, share }: ReportTable['rows'][number],
  y: number,
) {
  const nameMm = widthMm - columns.length * columnMm - 4;
  page.rect({ x: marginMm, y: y + 0.5, width: Math.max(0.3, nameMm * share), height: rowMm - 1 }, colors.shade);
  page.text(linesOf(name, nameMm - 3, body.sizeMm, 1)[0] ?? '', marginMm + 1.5, y + 4.4, body);
  for (const [i, figure] of figures.entries())
    page.text(figure, rightOf(i, columns.length), y + 4.4, { ...body, align: 'right' });
}

function drawFooter(
  page: ReportPage,
  { owner, period, every }: ReportContent,
  writing: ReportWriting,
  pageNumber: string,
): void {
  const y = pageMm.height - 12;
  const name = linesOf(printable(owner, 'Scanlog'), widthMm / 2, small.sizeMm, 1)[0] ?? '';
  page.text(`${name}, ${writing.period(period, every)}`, marginMm, y, small);
  page.text(pageNumber, pageMm.width - marginMm, y, { ...small, align: 'right' });
}
