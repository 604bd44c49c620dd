import { readFile } from 'node:fs/promises';
import { Refusal } from '../lib/errors.ts';
import { type Console, htmlResponse, pathOf, type RequestContext } from './context.ts';
import { guidePage } from './pages.ts';

/** Where the guides are served; links between them are relative, as in the folder docs/. */
const guidesPath = '/console/docs/';
const index = 'README.md';

/**
 * The guide as HTML, with tables that scroll on a phone. Images, and links to files that are not guides, are left out: the
 * service does not have them.
 */
const htmlOf = (markdown: string) =>
  Bun.markdown
    .html(markdown, { headings: { ids: true } })
    .replaceAll('<table>', '<div class="scroll card" role="group" aria-label="Table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replace(/<p><img [^>]*><\/p>/g, '')
    .replace(/<a href="\.\.\/[^"]*">(.*?)<\/a>/g, '$1');

/** Serves the documents of the folder docs/ as pages, without a session: the sign-in page links to them. */
export async function serveGuide(console: Console, { request }: RequestContext): Promise<Response> {
  const name = pathOf(request).slice(guidesPath.length) || index;
  const markdown = /^[A-Za-z-]+\.md$/.test(name) ? await readGuide(name) : undefined;
  if (markdown === undefined) throw new Refusal('not_found', `There is no guide ${name}.`);
  const title = /^# (.*)$/m.exec(markdown)?.[1] ?? name;
  return htmlResponse(console, request, 200, (page) => guidePage(page, { title, html: htmlOf(markdown) }));
}

const readGuide = (name: string): Promise<string | undefined> =>
  readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8').catch(() => undefined);
