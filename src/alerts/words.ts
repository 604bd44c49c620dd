import type { Alert, Finding } from '../../events/alert.ts';
import type { Mode } from '../../events/plans.ts';
import { localeOf, textsIn } from '../texts/in-language.ts';
import type { AlertTexts, RhythmFacts } from '../texts/texts.ts';
import { readProblem } from './problems.ts';
import { averageOf, type Comparison } from './rhythm.ts';

/** What alerts say to people who do not know how they work, in the language of the alert. */

interface Named {
  id: string;
  name: string;
}

/** The address of a page of the console. */
export const consoleUrl = (publicUrl: string, mode: Mode, path: string) =>
  `${publicUrl}/console${mode === 'test' ? '/test' : ''}${path}`;

/** A limit of the account that is not about one code. */
export interface UsedLimit {
  subject: keyof AlertTexts['limits'];
  used: number;
  limit: number;
}

/** A destination that is down: `problem` as `destination_checks` has it. */
export interface DownDestination {
  url: string;
  problem: string;
  /** Other addresses that the same code leads to, and that are down as well. */
  others: number;
}

/** Writes the findings of one alert. */
export class AlertWriter {
  /** Also for what the alert says in other places. */
  readonly texts: AlertTexts;
  readonly #publicUrl: string;
  readonly #mode: Mode;
  readonly #locale: string;

  constructor({ language, mode }: Pick<Alert, 'language' | 'mode'>, publicUrl: string) {
    this.texts = textsIn(language).alert;
    this.#publicUrl = publicUrl;
    this.#mode = mode;
    this.#locale = localeOf(language);
  }

  silent(code: Named, silence: Comparison): Finding {
    const { title, message } = this.texts.silent;
    const facts = this.#factsOf(code, silence, Math.min(...silence.weeks));
    return { ...this.#aboutCode(code), title: title(code.name), message: message(facts) };
  }

  spike(code: Named, spike: Comparison): Finding {
    const { title, message } = this.texts.spike;
    const facts = this.#factsOf(code, spike, Math.max(...spike.weeks));
    return { ...this.#aboutCode(code), title: title(code.name), message: message(facts) };
  }

  scans(code: Named & { used: number; max_scans: number }): Finding {
    const { near, usedUp, message } = this.texts.scans;
    const title = code.used >= code.max_scans ? usedUp : near;
    return {
      ...this.#aboutCode(code),
      title: title(code.name),
      message: message(code.name, this.number(code.used), this.number(code.max_scans)),
    };
  }

  down(code: Named, { url, problem, others }: DownDestination): Finding {
    const { title, message } = this.texts.down;
    const facts = { name: code.name, url, problem: readProblem(problem, this.texts.problems), others };
    return { ...this.#aboutCode(code), title: title(code.name), message: message(facts) };
  }

  limit({ subject, used, limit }: UsedLimit): Finding {
    const { title, message } = this.texts.limits[subject];
    return {
      subject,
      code: null,
      domain: null,
      title,
      message: message(this.number(used), this.number(limit)),
      link: this.link('/account'),
    };
  }

  domain({ id, name, found }: Named & { found: string | null }): Finding {
    const { title, message } = this.texts.domain;
    return {
      subject: id,
      code: null,
      domain: id,
      title: title(name),
      message: message(name, found ?? '').replaceAll('  ', ' '),
      link: this.link(`/account/domains/${id}`),
    };
  }

  number(value: number): string {
    return Math.round(value).toLocaleString(this.#locale);
  }

  /** A page of the console. */
  link(path: string): string {
    return consoleUrl(this.#publicUrl, this.#mode, path);
  }

  #aboutCode({ id }: Named) {
    return { subject: id, code: id, domain: null, link: this.link(`/codes/${id}`) };
  }

  #factsOf({ name }: Named, comparison: Comparison, extreme: number): RhythmFacts {
    return {
      name,
      scans: this.number(comparison.scans),
      duration: durationIn(this.#locale, comparison.hours),
      weeks: this.number(comparison.weeks.length),
      average: this.number(averageOf(comparison)),
      extreme: this.number(extreme),
    };
  }
}

/** @example durationIn('en', 30) // '1 day and 6 hours' */
export function durationIn(locale: string, hours: number): string {
  const counted = (count: number, unit: 'day' | 'hour') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
  const [days, rest] = [Math.floor(hours / 24), hours % 24];
  if (days === 0) return counted(hours, 'hour');
  if (rest === 0 || days > 3) return counted(days, 'day');
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format([counted(days, 'day'), counted(rest, 'hour')]);
}
