import { defaultLanguage } from '../../events/languages.ts';
import { escapeHtml } from '../lib/html.ts';
import { textsIn } from '../texts/in-language.ts';

export interface MailContent {
  /** Default: English. */
  language?: string;
  heading: string;
  paragraphs: readonly string[];
  /** Figures or facts, one a row. */
  rows?: readonly (readonly [name: string, value: string])[];
  action?: { label: string; url: string };
  /** Why the recipient gets it. */
  reason: string;
  unsubscribeUrl?: string;
}

const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";

/** A mail as plain text and as HTML: one column, without images and scripts, readable in dark mode. */
export function mailBody(content: MailContent): { text: string; html: string } {
  return { text: textOf(content), html: htmlOf(content) };
}

function textOf(content: MailContent): string {
  const { language = defaultLanguage, heading, paragraphs, rows = [], action, reason, unsubscribeUrl } = content;
  const { unsubscribe } = textsIn(language).unsubscribe;
  const parts = [
    heading,
    ...paragraphs,
    rows.map(([name, value]) => `${name}: ${value}`).join('\n'),
    action === undefined ? '' : `${action.label}:\n${action.url}`,
    `-- \n${reason}${unsubscribeUrl === undefined ? '' : `\n${unsubscribe}: ${unsubscribeUrl}`}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function htmlOf(content: MailContent): string {
  const { language = defaultLanguage, heading, paragraphs, rows = [], action, reason, unsubscribeUrl } = content;
  const { direction, unsubscribe: words } = textsIn(language);
  const link = (url: string, text: string, style = '') =>
    `<a href="${escapeHtml(url)}"${style}>${escapeHtml(text)}</a>`;
  const cells = rows.map(
    ([name, value]) =>
      `<tr><td style="padding:4px 0;padding-inline-end:16px">${escapeHtml(name)}</td><td style="padding:4px 0;text-align:end"><strong>${escapeHtml(value)}</strong></td></tr>`,
  );
  const button = ` style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none"`;
  const unsubscribe = unsubscribeUrl === undefined ? '' : `<br>${link(unsubscribeUrl, words.unsubscribe)}`;
  return [
    `<!doctype html><html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">`,
    `<title>${escapeHtml(heading)}</title></head><body style="margin:0;padding:24px;${font};line-height:1.5">`,
    `<div style="max-width:560px;margin:0 auto"><h1 style="font-size:20px;margin:0 0 16px">${escapeHtml(heading)}</h1>`,
    ...paragraphs.map((text) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`),
    cells.length === 0 ? '' : `<table style="border-collapse:collapse;margin:0 0 16px">${cells.join('')}</table>`,
    action === undefined ? '' : `<p style="margin:0 0 16px">${link(action.url, action.label, button)}</p>`,
    `<p style="margin:24px 0 0;font-size:13px;opacity:.75">${escapeHtml(reason)}${unsubscribe}</p></div></body></html>`,
  ].join('\n');
}
