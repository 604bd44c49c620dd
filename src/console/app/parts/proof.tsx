import { useEffect, useState } from 'preact/hooks';
import { byteLength } from '../../../qr/capacity.ts';
import type { Content } from '../../../qr/content/schemas.ts';
import { api, isSessionError } from '../api.ts';
import type { Style } from '../codes/style.ts';
import { Icon } from '../icons.tsx';
import type { Proof } from '../types.ts';

/** How long the form must rest before its style is proofed. */
const debounceMs = 400;

/** What the symbol contains, as a preflight takes it. */
export type ProofSubject = { short_code: string } | { content: Content };

/**
 * The proof of a style that no code has yet, for a symbol with this text; undefined while it is not known, and without a style.
 */
export function useProof(style: Style | undefined, text: string, subject: ProofSubject): Proof | undefined {
  // Only the length of the text decides how many modules the symbol has.
  const key = JSON.stringify([style, byteLength(text)]);
  const [result, setResult] = useState<{ key: string; proof: Proof }>();
  useEffect(() => {
    if (style === undefined) return undefined;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      try {
        const proof = await api.post<Proof>('/preflight', { style, ...subject });
        if (isCurrent) setResult({ key, proof });
      } catch (error) {
        // The form works without the proof, and creating the code reports what is wrong.
        if (isSessionError(error)) return;
      }
    }, debounceMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  return result?.key === key ? result.proof : undefined;
}

export type Verdict = 'good' | 'risky' | 'unreadable';

export function verdictOf({ readable, smallest_mm, reasons }: Proof): Verdict {
  if (!readable) return 'unreadable';
  return smallest_mm === null || reasons.length > 0 ? 'risky' : 'good';
}

export function sentenceOf({ readable, smallest_mm }: Proof): string {
  if (!readable) return 'Does not scan';
  return smallest_mm === null ? 'Some scanners fail' : `Scans down to ${smallest_mm} mm`;
}

const badgeClasses: Record<Verdict, string> = { good: 'active', risky: 'paused', unreadable: 'failed' };

/** What the proof found, in a few words. */
export const ProofBadge = ({ proof }: { proof: Proof }) => (
  <span class={`badge ${badgeClasses[verdictOf(proof)]}`}>{sentenceOf(proof)}</span>
);

/** Why a code scans badly. */
export const ProofReasons = ({ proof }: { proof: Proof }) =>
  proof.reasons.map(({ field, message }) => (
    <p key={`${field} ${message}`} class="row nowrap verdict bad">
      <Icon name="warning" />
      <span>{message}</span>
    </p>
  ));
