import { problemWithName } from '../fields.ts';
import { readTimestamp, timestampProblem } from '../timestamp.ts';
import { timeZoneNamed, timeZoneProblem } from './local-time.ts';
import type { GivenRule, GivenVariant } from './rule-ids.ts';
import type { When } from './targeting-schema.ts';
import {
  browsers,
  countries,
  devices,
  maxRules,
  maxVariants,
  maxWeight,
  minVariants,
  weekdays,
} from './targeting-words.ts';

/** A field of a request, and what it must be ("must …"). */
export interface FieldProblem {
  field: string;
  problem: string;
}

/** Enough to correct a request; keeps the response short for a body with thousands of errors. */
const maxProblems = 20;
/** An event has the rules before and after a change, and a message of the stream must contain it. */
export const maxRulesLength = 64 * 1024;

/** Collects the problems of a request. */
export class Problems {
  readonly found: FieldProblem[] = [];

  add(field: string, problem: string): void {
    if (this.found.length < maxProblems) this.found.push({ field, problem });
  }

  /** The value as an object with only these fields; an empty object if it is none. */
  objectOf<K extends string>(field: string, value: unknown, known: readonly K[]): Partial<Record<K, unknown>> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.add(field, 'must be an object');
      return {};
    }
    for (const name of Object.keys(value))
      if (!(known as readonly string[]).includes(name))
        this.add(`${field}.${name}`, `is not an accepted field: remove it`);
    return value as Partial<Record<K, unknown>>;
  }

  /** The items of a list of strings, each converted by `read`, which returns a sentence for an invalid item. */
  listOf<T extends string>(
    field: string,
    value: unknown,
    read: (text: string) => { value: T } | { problem: string },
  ): T[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.add(field, 'must be a list of at least one item');
      return [];
    }
    const items = value.flatMap((item: unknown, i) => {
      const result = typeof item === 'string' ? read(item) : { problem: 'must be a string' };
      if ('value' in result) return [result.value];
      this.add(`${field}[${i}]`, result.problem);
      return [];
    });
    return [...new Set(items)];
  }
}

type ProblemWithUrl = (url: string) => string | undefined;

/** Reads the rules that a client sends. Conditions are normalized, so that equal rules have equal content. */
export function readRules(value: unknown, problems: Problems, problemWithUrl: ProblemWithUrl): GivenRule[] {
  if (value === null) return [];
  if (!Array.isArray(value) || value.length > maxRules) {
    problems.add('rules', `must be an array of up to ${maxRules} rules, or null`);
    return [];
  }
  const rules = value.map((rule: unknown, i) => readRule(rule, `rules[${i}]`, problems, problemWithUrl));
  if (JSON.stringify(rules).length > maxRulesLength)
    problems.add('rules', `must have at most ${maxRulesLength} characters as JSON`);
  return rules;
}

const ruleFields = ['id', 'name', 'when', 'destination_url', 'split'] as const;

function readRule(value: unknown, place: string, problems: Problems, problemWithUrl: ProblemWithUrl): GivenRule {
  const given = problems.objectOf(place, value, ruleFields);
  const common = { ...readId(given.id, place, problems), ...readName(given.name, place, problems) };
  const when = given.when === undefined || given.when === null ? {} : readWhen(given.when, `${place}.when`, problems);
  const hasConditions = Object.keys(when).length > 0;
  const isObject = typeof value === 'object' && value !== null;
  if (given.split !== undefined) {
    if (given.destination_url !== undefined)
      problems.add(`${place}.destination_url`, 'must not be given together with split');
    const split = readSplit(given.split, `${place}.split`, problems, problemWithUrl);
    return { ...common, ...(hasConditions ? { when } : {}), split };
  }
  if (isObject && (given.when === undefined || given.when === null || isEmptyObject(given.when)))
    problems.add(`${place}.when`, 'must have at least one condition: a rule without any would hide the ones after it');
  return {
    ...common,
    when,
    destination_url: isObject ? readUrl(given.destination_url, place, problems, problemWithUrl) : '',
  };
}

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

function readId(value: unknown, place: string, problems: Problems): { id?: string } {
  if (value === undefined || value === null) return {};
  if (typeof value === 'string') return { id: value };
  problems.add(`${place}.id`, 'must be a string');
  return {};
}

function readName(value: unknown, place: string, problems: Problems): { name?: string } {
  if (value === undefined || value === null) return {};
  const problem = typeof value === 'string' ? problemWithName(value) : 'must be a string of 1 to 255 characters';
  if (problem === undefined) return { name: (value as string).trim() };
  problems.add(`${place}.name`, problem);
  return {};
}

function readUrl(value: unknown, place: string, problems: Problems, problemWithUrl: ProblemWithUrl): string {
  const field = `${place}.destination_url`;
  if (value === undefined) problems.add(field, 'is required');
  else if (typeof value !== 'string') problems.add(field, 'must be an http or https URL');
  else {
    const problem = problemWithUrl(value);
    if (problem === undefined) return value;
    problems.add(field, problem);
  }
  return '';
}

const variantFields = ['id', 'name', 'weight', 'destination_url'] as const;

function readSplit(value: unknown, field: string, problems: Problems, problemWithUrl: ProblemWithUrl): GivenVariant[] {
  if (!Array.isArray(value) || value.length < minVariants || value.length > maxVariants) {
    problems.add(field, `must be an array of ${minVariants} to ${maxVariants} variants`);
    return [];
  }
  return value.map((item: unknown, i) => {
    const place = `${field}[${i}]`;
    const given = problems.objectOf(place, item, variantFields);
    const { weight } = given;
    if (typeof item !== 'object' || item === null) return { weight: 1, destination_url: '' };
    const isWeight = typeof weight === 'number' && Number.isInteger(weight) && weight >= 1 && weight <= maxWeight;
    if (!isWeight) problems.add(`${place}.weight`, `must be an integer from 1 to ${maxWeight}`);
    return {
      ...readId(given.id, place, problems),
      ...readName(given.name, place, problems),
      weight: isWeight ? weight : 1,
      destination_url: readUrl(given.destination_url, place, problems, problemWithUrl),
    };
  });
}

const whenFields = [
  'countries',
  'devices',
  'browsers',
  'languages',
  'from',
  'until',
  'days',
  'hours',
  'timezone',
] as const;

function readWhen(value: unknown, place: string, problems: Problems): When {
  const given = problems.objectOf(place, value, whenFields);
  const has = (field: (typeof whenFields)[number]) => given[field] !== undefined && given[field] !== null;
  const list = <T extends string>(field: (typeof whenFields)[number], read: Parameters<typeof problems.listOf<T>>[2]) =>
    problems.listOf(`${place}.${field}`, given[field], read);
  const when: When = {};
  if (has('countries')) when.countries = list('countries', readCountry);
  if (has('devices')) when.devices = list('devices', oneOfWords(devices));
  if (has('browsers')) when.browsers = list('browsers', oneOfWords(browsers));
  if (has('languages')) when.languages = list('languages', readLanguage);
  for (const field of ['from', 'until'] as const)
    if (has(field)) {
      const time = readTimestamp(given[field]);
      if (time === undefined) problems.add(`${place}.${field}`, timestampProblem);
      else when[field] = time.toISOString();
    }
  if (when.from !== undefined && when.until !== undefined && when.from >= when.until)
    problems.add(`${place}.until`, 'must be after from');
  if (has('days')) when.days = list('days', oneOfWords(weekdays));
  if (has('hours')) when.hours = readHours(given.hours, `${place}.hours`, problems);
  if (has('timezone')) {
    const timezone = typeof given.timezone === 'string' ? timeZoneNamed(given.timezone) : undefined;
    if (timezone === undefined) problems.add(`${place}.timezone`, timeZoneProblem);
    else when.timezone = timezone;
  }
  return when;
}

function readCountry(text: string) {
  const country = text.toUpperCase();
  return countries.has(country)
    ? { value: country }
    : { problem: 'must be the two-letter code of a country by ISO 3166-1, such as DE, or XX for unknown' };
}

function readLanguage(text: string) {
  const problem = { problem: 'must be a language tag by BCP 47, such as de or pt-BR' };
  try {
    const [tag] = Intl.getCanonicalLocales(text);
    return tag === undefined ? problem : { value: tag };
  } catch {
    return problem;
  }
}

const oneOfWords =
  <T extends string>(words: readonly T[]) =>
  (text: string): { value: T } | { problem: string } =>
    (words as readonly string[]).includes(text)
      ? { value: text as T }
      : { problem: `must be one of ${words.join(', ')}` };

const clockTime = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

function readHours(value: unknown, place: string, problems: Problems): { from: string; to: string } {
  const { from, to } = problems.objectOf(place, value, ['from', 'to'] as const);
  const isFrom = typeof from === 'string' && clockTime.test(from);
  const isTo = typeof to === 'string' && (clockTime.test(to) || to === '24:00');
  if (!isFrom) problems.add(`${place}.from`, 'must be a time such as 07:00');
  if (!isTo) problems.add(`${place}.to`, 'must be a time such as 11:00, or 24:00 for the end of the day');
  if (isFrom && from === to) problems.add(`${place}.to`, 'must differ from from; leave hours out for the whole day');
  return { from: isFrom ? from : '00:00', to: isTo ? to : '24:00' };
}
