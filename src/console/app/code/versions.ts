import { displayDestination } from '../codes/destination.ts';
import { plural } from '../format.ts';
import { ruleText } from '../rules/sentence.ts';
import type { PastQrCode, QrCode } from '../types.ts';
import { queryText, scheduleText } from './targeting-history.tsx';

const capitalized = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

type AnyCode = QrCode | PastQrCode;

export interface Aspect {
  label: string;
  lines: string[];
}

/** What a restore brings back, in words; always the same labels in the same order. */
export const aspectsOf = (code: AnyCode, timeZone: string): Aspect[] => [
  { label: 'Name', lines: [code.name] },
  { label: 'Destination', lines: [displayDestination(code.destination_url)] },
  { label: 'Rules', lines: code.rules?.map((rule) => ruleText(rule, timeZone)) ?? ['None'] },
  {
    label: 'Schedule',
    lines: [capitalized(scheduleText({ starts_at: code.starts_at ?? null, expires_at: code.expires_at ?? null }))],
  },
  { label: 'Scan limit', lines: [code.max_scans === undefined ? 'None' : plural(code.max_scans, 'scan')] },
  {
    label: 'Otherwise',
    lines: [code.fallback_url === undefined ? 'A page that says why' : displayDestination(code.fallback_url)],
  },
  {
    label: 'Query string',
    lines: [capitalized(queryText({ forward_query: code.forward_query ?? false, utm: code.utm ?? null }))],
  },
  { label: 'Tags', lines: [code.tags?.join(', ') ?? 'None'] },
];

/** The labels of what differs between two states of a code. */
export function differences(a: Aspect[], b: Aspect[]): Set<string> {
  const before = new Map(a.map(({ label, lines }) => [label, lines.join('\n')]));
  return new Set(b.filter(({ label, lines }) => before.get(label) !== lines.join('\n')).map(({ label }) => label));
}
