import { timezoneOf } from '../../../events/account.ts';
import { pdfLanguages } from '../../../events/languages.ts';
import type { Owner } from '../../../events/owner.ts';
import type { ReportSettings } from '../../../events/report.ts';
import { timeZoneNamed, timeZoneProblem } from '../../../events/targeting/local-time.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import type { Service } from '../service.ts';

/** The time zone that a request names, or the time zone of the account; throws 400. */
export async function readZone({ sql }: Pick<Service, 'sql'>, { account }: Owner, given: string | undefined) {
  if (given === undefined) return timezoneOf((await findAccount(sql, account)) ?? { timezone: null });
  const named = timeZoneNamed(given);
  if (named === undefined) throw invalid([{ field: 'timezone', message: `timezone ${timeZoneProblem}.` }]);
  return named;
}

/** An error for a language whose letters PDF files cannot have. */
export function languageErrors({ format, language }: Pick<ReportSettings, 'format' | 'language'>): FieldError[] {
  if (format !== 'pdf' || pdfLanguages.some((tag) => tag === language)) return [];
  const message = `language ${language} cannot be written in PDF files, whose fonts lack its letters: choose the format csv, or one of ${pdfLanguages.join(', ')}.`;
  return [{ field: 'language', message }];
}
