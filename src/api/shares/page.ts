import { escapeHtml } from '../../lib/html.ts';
import { localeOf, textsIn } from '../../texts/in-language.ts';
import type { ShareTexts } from '../../texts/texts.ts';
import { chartOf } from './chart.ts';
import { type SharedFigures, type SharePeriod, sharePeriods } from './figures.ts';
import type { Shown, ShownTable } from './hide.ts';

/** Pages without script: whatever is on them is in the document. */

const style = `
:root { color-scheme: light dark; --text: light-dark(#1c1917, #fafaf9); --muted: light-dark(#57534e, #d6d3d1);
  --line: light-dark(#d6d3d1, #57534e); --bar: light-dark(#0f766e, #5eead4); --paper: light-dark(#fafaf9, #1c1917) }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; background: var(--paper); color: var(--text) }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.0625rem; margin: 0 0 .5rem }
p { margin: .25rem 0; color: var(--muted) }
a { color: inherit }
nav { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0 1.5rem }
nav a { padding: .375rem .75rem; border: 1px solid var(--line); border-radius: .5rem; text-decoration: none }
nav a[aria-current] { border-color: var(--bar); font-weight: 600; box-shadow: inset 0 0 0 1px var(--bar) }
.totals { display: flex; flex-wrap: wrap; gap: 1rem 3rem; margin: 0 0 1.5rem }
.totals dt { color: var(--muted) }
.totals dd { margin: 0; font-size: 1.75rem; font-weight: 600; font-variant-numeric: tabular-nums }
section { margin: 0 0 2rem; min-width: 0 }
.tables { display: grid; gap: 0 2.5rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)) }
svg { display: block; width: 100%; height: 12.5rem; fill: var(--bar) }
svg .few { fill: var(--line) }
svg path { stroke: var(--line) }
.axis { display: flex; justify-content: space-between; font-size: .875rem; color: var(--muted) }
table { width: 100%; border-collapse: collapse }
th { font-weight: 400; text-align: start; overflow-wrap: anywhere }
th, td { padding: .3rem 0; border-bottom: 1px solid var(--line) }
td { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; padding-inline-start: 1rem }
thead th:last-child { text-align: end }
summary { cursor: pointer; margin: .75rem 0 }
form { display: grid; gap: .75rem; max-width: 20rem; margin-top: 1.5rem }
input, button { font: inherit; padding: .5rem .75rem; border: 1px solid var(--muted); border-radius: .5rem;
  background: transparent; color: inherit }
button { background: var(--bar); border-color: var(--bar); color: var(--paper); font-weight: 600; cursor: pointer }
.error { color: light-dark(#b91c1c, #fca5a5) }
@media print { :root { color-scheme: light } nav, summary { display: none } section { break-inside: avoid } }
`;

function documentOf(language: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="${language}" dir="${textsIn(language).direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** The page of a link that leads to no share. */
export function missingPage(language: string): string {
  const [title, text] = textsIn(language).share.missing;
  return documentOf(language, title, `<h1>${title}</h1>\n<p>${text}</p>`);
}

/** The form of a share with a password. It does not name the share. */
export function passwordPage(language: string, problem?: 'wrongPassword' | 'tooManyTries'): string {
  const words = textsIn(language).share;
  const error = problem === undefined ? '' : `<p class="error" id="error" role="alert">${words[problem]}</p>\n`;
  const described = problem === undefined ? '' : ' aria-describedby="error" aria-invalid="true"';
  return documentOf(
    language,
    words.password,
    `<h1>${words.isProtected}</h1>
<form method="post">
${error}<label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus${described}>
<button>${words.open}</button>
</form>`,
  );
}

/** The page of statistics. `path` is its own, for the links to other periods. */
export function statisticsPage(
  figures: SharedFigures,
  { language, period, path }: { language: string; period: SharePeriod; path: string },
): string {
  const words = textsIn(language).share;
  const locale = localeOf(language);
  const number = new Intl.NumberFormat(locale);
  const shown = (count: Shown) => (count === null ? words.few : number.format(count));
  const links = sharePeriods.map((one) => {
    const here = one === period ? ' aria-current="page"' : '';
    return `<a href="${path}?period=${one}"${here}>${words.periods[one]}</a>`;
  });
  const notes = [
    words.notes.timezone.replace('%', figures.timezone),
    ...(figures.bots === 'exclude' ? [words.notes.withoutBots] : []),
    words.notes.hidden,
  ];
  const body = [
    `<h1><bdi>${escapeHtml(figures.name)}</bdi></h1>`,
    `<p>${spanOf(figures, locale)}</p>`,
    `<nav>${links.join('')}</nav>`,
    `<dl class="totals"><div><dt>${words.scans}</dt><dd>${shown(figures.scans)}</dd></div>`,
    `<div><dt>${words.visitors}</dt><dd>${shown(figures.visitors)}</dd></div></dl>`,
    figures.scans === 0 ? `<p>${words.nothing}</p>` : chartSection(figures, words, locale, shown),
    '<div class="tables">',
    tableSection(words.codes, figures.codes, words, shown, (name) => name),
    tableSection(words.countries, figures.countries, words, shown, countryNames(locale, words)),
    tableSection(words.devices, figures.devices, words, shown, (name) => deviceNames[name] ?? name),
    tableSection(words.browsers, figures.browsers, words, shown, (name) => browserNames[name] ?? words.other),
    '</div>',
    ...notes.map((note) => `<p>${escapeHtml(note)}</p>`),
  ];
  return documentOf(language, figures.name, body.join('\n'));
}

const deviceNames: Record<string, string> = { ios: 'iOS', android: 'Android', desktop: 'Desktop' };
const browserNames: Record<string, string> = { safari: 'Safari', chrome: 'Chrome', samsung_browser: 'Samsung Browser' };

function countryNames(locale: string, words: ShareTexts): (code: string) => string {
  const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' });
  return (code) => (/^[A-Z]{2}$/.test(code) && code !== 'XX' ? (names.of(code) ?? code) : words.unknown);
}

/** The first and the last day. */
function spanOf({ period, timezone }: SharedFigures, locale: string): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: timezone });
  return escapeHtml(format.formatRange(new Date(period.start), new Date(period.end)));
}

function chartSection(
  { series, interval }: SharedFigures,
  words: ShareTexts,
  locale: string,
  shown: (count: Shown) => string,
): string {
  const title = interval === 'month' ? words.perMonth : words.perDay;
  const options =
    interval === 'month' ? ({ month: 'long', year: 'numeric' } as const) : ({ dateStyle: 'medium' } as const);
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  const named = (name = '') => escapeHtml(format.format(new Date(name)));
  const rows = series.map(({ name, scans }) => `<tr><th scope="row">${named(name)}</th><td>${shown(scans)}</td></tr>`);
  return `<section><h2>${title}</h2>
${chartOf({ series }, title)}
<div class="axis" aria-hidden="true"><span>${named(series[0]?.name)}</span><span>${named(series.at(-1)?.name)}</span></div>
<details><summary>${words.asTable}</summary>
<table><thead><tr><th scope="col">${words.date}</th><th scope="col">${words.scans}</th></tr></thead>
<tbody>${rows.join('')}</tbody></table></details></section>`;
}

function tableSection(
  title: string,
  { rows, other }: ShownTable,
  words: ShareTexts,
  shown: (count: Shown) => string,
  nameOf: (name: string) => string,
): string {
  const all = [
    ...rows.map(({ name, scans }) => [nameOf(name), scans] as const),
    ...(other === undefined ? [] : [[words.other, other] as const]),
  ];
  if (all.length === 0) return '';
  const body = all.map(
    ([name, scans]) => `<tr><th scope="row"><bdi>${escapeHtml(name)}</bdi></th><td>${shown(scans)}</td></tr>`,
  );
  return `<section><h2>${title}</h2><table><tbody>${body.join('')}</tbody></table></section>`;
}
