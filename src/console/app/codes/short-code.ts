import { useEffect, useState } from 'preact/hooks';
import { linkOf } from '../../../../events/link.ts';
import { problemWithShortCode } from '../../../../events/reserved-words.ts';
import { api } from '../api.ts';

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** A short code like those the service generates, created here so that the preview can show the final image. */
export function suggestShortCode(): string {
  // 256 is not a multiple of 58, so some letters are slightly more likely, which is fine: short codes are not secret.
  return [...crypto.getRandomValues(new Uint8Array(7))].map((byte) => base58[byte % base58.length]).join('');
}

export type Availability = { state: 'checking' } | { state: 'available' } | { state: 'invalid'; error: string };

interface CheckResult {
  data: { short_code: string; fault: string | null }[];
}

/** `domain` is empty for links of the service itself. */
export const checkShortCodes = (codes: string[], domain = '') =>
  api.post<CheckResult>('/short-codes/check', { short_codes: codes, ...(domain === '' ? {} : { domain }) });

/** Whether a short code is valid and available, checked 150 ms after the last change. */
export function useAvailability(shortCode: string, domain: string): Availability {
  const [result, setResult] = useState<{ link: string; availability: Availability }>();
  const link = linkOf(domain, shortCode);
  const ruleError = problemWithShortCode(shortCode);
  useEffect(() => {
    if (ruleError !== undefined) return undefined;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const error = await checkShortCodes([shortCode], domain).then(
        ({ data }) => data[0]?.fault ?? undefined,
        // If the check fails, creating the code reports a short code that is taken.
        () => undefined,
      );
      if (isCurrent)
        setResult({
          link,
          availability: error === undefined ? { state: 'available' } : { state: 'invalid', error },
        });
    }, 150);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [link, ruleError]);
  if (ruleError !== undefined) return { state: 'invalid', error: ruleError };
  return result?.link === link ? result.availability : { state: 'checking' };
}

/** Results of the check by short code: undefined is available. */
type Results = ReadonlyMap<string, string | undefined>;

interface TakenShortCodes {
  /** By short code; only those that are taken. */
  errors: Map<string, string>;
  /** Whether all short codes are checked. */
  isComplete: boolean;
  /** Checks all short codes again. */
  forget(): void;
}

/** Looks up which short codes are taken, 250 ms after the last change. */
export function useTakenShortCodes(shortCodes: string[]): TakenShortCodes {
  const [results, setResults] = useState<Results>(new Map());
  const codes = [...new Set(shortCodes)].filter((code) => problemWithShortCode(code) === undefined);
  const unchecked = codes.filter((code) => !results.has(code));
  const key = unchecked.join('\n');
  useEffect(() => {
    if (key === '') return undefined;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      // If the check fails, the bulk request itself reports which short codes are taken.
      const { data } = await checkShortCodes(unchecked).catch(() => ({ data: [] }));
      const faults = new Map(data.map(({ short_code, fault }) => [short_code, fault ?? undefined]));
      if (isCurrent)
        setResults((before) => new Map([...before, ...unchecked.map((code) => [code, faults.get(code)] as const)]));
    }, 250);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  const errors = new Map(
    codes.flatMap((code) => {
      const error = results.get(code);
      return error === undefined ? [] : [[code, error] as const];
    }),
  );
  return { errors, isComplete: unchecked.length === 0, forget: () => setResults(new Map()) };
}
