import type { ComponentChild } from 'preact';
import type { FieldEventType } from '../../../../events/code-change.ts';
import type { Rule, Utm } from '../../../../events/targeting/targeting-schema.ts';
import { displayDestination } from '../codes/destination.ts';
import { number, plural, time } from '../format.ts';
import { ruleText } from '../rules/sentence.ts';
import type { HistoryEntry } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';

/** A change of each field in words. A field that is missing here does not compile. */
const texts: Record<FieldEventType, (from: unknown, to: unknown) => ComponentChild> = {
  code_renamed: (from, to) => (
    <>
      <strong>Renamed</strong> from “{String(from)}” to “{String(to)}”
    </>
  ),
  destination_changed: (from, to) => (
    <>
      <strong>Destination changed</strong> from <span class="wrapped">{displayDestination(String(from))}</span> to{' '}
      <span class="wrapped">{displayDestination(String(to))}</span>
    </>
  ),
  rules_changed: (from, to) => <RulesChange before={(from ?? []) as Rule[]} after={(to ?? []) as Rule[]} />,
  schedule_changed: (_, to) => (
    <>
      <strong>Schedule changed</strong>: {scheduleText(to as Schedule)}
    </>
  ),
  limit_changed: (from, to) =>
    to === null ? (
      <>
        <strong>Limit removed</strong>, which was {plural(Number(from), 'scan')}
      </>
    ) : (
      <>
        <strong>Limit set</strong> to {plural(Number(to), 'scan')}
        {from !== null && `, from ${number(Number(from))}`}
      </>
    ),
  fallback_changed: (_, to) =>
    to === null ? (
      <>
        <strong>Fallback removed</strong>: people see a page that says why
      </>
    ) : (
      <>
        <strong>Fallback set</strong> to <span class="wrapped">{displayDestination(String(to))}</span>
      </>
    ),
  query_changed: (_, to) => (
    <>
      <strong>Query string changed</strong>: {queryText(to as Query)}
    </>
  ),
  tags_changed: (from, to) => <TagsChange before={(from ?? []) as string[]} after={(to ?? []) as string[]} />,
  note_changed: (_, to) =>
    to === null ? (
      <strong>Note removed</strong>
    ) : (
      <>
        <strong>Note changed</strong> to “{String(to)}”
      </>
    ),
};

/** A change of fields in words; undefined for any other event. */
export const fieldChange = ({ event, from, to }: HistoryEntry): ComponentChild | undefined =>
  Object.hasOwn(texts, event) ? texts[event as FieldEventType](from, to) : undefined;

interface Schedule {
  starts_at: string | null;
  expires_at: string | null;
}

export function scheduleText({ starts_at, expires_at }: Schedule): string {
  if (starts_at === null && expires_at === null) return 'always';
  const parts = [starts_at && `from ${time(starts_at)}`, expires_at && `until ${time(expires_at)}`];
  return parts.filter(Boolean).join(' ');
}

interface Query {
  forward_query: boolean;
  utm: Utm | null;
}

export function queryText({ forward_query, utm }: Query): string {
  const parts = [
    ...Object.entries(utm ?? {}).map(([field, value]) => `utm_${field}=${value}`),
    ...(forward_query ? ['the query string of the short link is passed on'] : []),
  ];
  return parts.length === 0 ? 'nothing is added' : parts.join(', ');
}

const sameRule = (a: Rule | undefined, b: Rule | undefined) => JSON.stringify(a) === JSON.stringify(b);

/** Rules that were added, changed and removed; those that stayed are left out. */
function RulesChange({ before, after }: { before: Rule[]; after: Rule[] }) {
  const known = new Map(before.map((rule) => [rule.id, rule]));
  const kept = new Set(after.map(({ id }) => id));
  const lines: [what: string, rule: Rule][] = [];
  for (const rule of after) {
    if (!known.has(rule.id)) lines.push(['Added', rule]);
    else if (!sameRule(known.get(rule.id), rule)) lines.push(['Changed', rule]);
  }
  for (const rule of before) if (!kept.has(rule.id)) lines.push(['Removed', rule]);
  return (
    <>
      <strong>Rules changed</strong>
      {lines.length === 0 ? (
        ': their order'
      ) : (
        <span class="stack gap-xs wrapped">
          {lines.map(([what, rule]) => (
            <span key={`${what} ${rule.id}`}>
              {what}: {rule.name !== undefined && `${rule.name}: `}
              {ruleText(rule, accountTimeZone())}
            </span>
          ))}
        </span>
      )}
    </>
  );
}

function TagsChange({ before, after }: { before: string[]; after: string[] }) {
  const added = after.filter((tag) => !before.includes(tag));
  const removed = before.filter((tag) => !after.includes(tag));
  const parts = [
    added.length > 0 && `added ${added.join(', ')}`,
    removed.length > 0 && `removed ${removed.join(', ')}`,
  ].filter(Boolean);
  return (
    <>
      <strong>Tags changed</strong>
      {parts.length > 0 && `: ${parts.join('; ')}`}
    </>
  );
}
