import type { ShownField } from '../../../../events/code-change.ts';
import { displayDestination } from '../codes/destination.ts';
import { plural } from '../format.ts';
import { ruleText } from '../rules/sentence.ts';
import type { PastQrCode, QrCode } from '../types.ts';
import { queryText, scheduleText } from './field-changes.tsx';

const capitalized = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

type AnyCode = QrCode | PastQrCode;

export interface Aspect {
  label: string;
  lines: string[];
}

interface Field {
  label: string;
  linesOf(code: AnyCode, timeZone: string): string[];
}

/** The fields that a restore brings back, in words. One that is missing here does not compile. */
const fields: Record<ShownField, Field> = {
  name: { label: 'Name', linesOf: ({ name }) => [name] },
  destination_url: {
    label: 'Destination',
    linesOf: ({ destination_url }) => [displayDestination(destination_url)],
  },
  rules: {
    label: 'Rules',
    linesOf: ({ rules }, timeZone) => rules?.map((rule) => ruleText(rule, timeZone)) ?? ['None'],
  },
  schedule: {
    label: 'Schedule',
    linesOf: ({ starts_at = null, expires_at = null }) => [capitalized(scheduleText({ starts_at, expires_at }))],
  },
  max_scans: {
    label: 'Scan limit',
    linesOf: ({ max_scans }) => [max_scans === undefined ? 'None' : plural(max_scans, 'scan')],
  },
  fallback_url: {
    label: 'Otherwise',
    linesOf: ({ fallback_url }) => [
      fallback_url === undefined ? 'A page that says why' : displayDestination(fallback_url),
    ],
  },
  query: {
    label: 'Query string',
    linesOf: ({ forward_query = false, utm = null }) => [capitalized(queryText({ forward_query, utm }))],
  },
  tags: { label: 'Tags', linesOf: ({ tags }) => [tags?.join(', ') ?? 'None'] },
  note: { label: 'Note', linesOf: ({ note }) => note?.split('\n') ?? ['None'] },
};

/** The label of a field of the history. */
export const labelOf = (field: string): string =>
  Object.hasOwn(fields, field) ? fields[field as ShownField].label : capitalized(field);

/** What a restore brings back, in words; always the same labels in the same order. */
export const aspectsOf = (code: AnyCode, timeZone: string): Aspect[] =>
  Object.values(fields).map(({ label, linesOf }) => ({ label, lines: linesOf(code, timeZone) }));

/** The labels of what differs between two states of a code. */
export function differences(a: Aspect[], b: Aspect[]): Set<string> {
  const before = new Map(a.map(({ label, lines }) => [label, lines.join('\n')]));
  return new Set(b.filter(({ label, lines }) => before.get(label) !== lines.join('\n')).map(({ label }) => label));
}
