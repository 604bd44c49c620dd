import { useEffect, useState } from 'preact/hooks';
import { faultOfShortCode } from '../../../../events/fields.ts';
import { api } from '../api.ts';

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Like those of the service. Chosen here, so that the picture can be shown before the code exists. */
export function suggestShortCode(): string {
  // 256 is no multiple of 58, so a few letters come a little more often: it is a suggestion, not a secret.
  return [...crypto.getRandomValues(new Uint8Array(7))].map((byte) => base58[byte % base58.length]).join('');
}

export type Availability = { state: 'checking' } | { state: 'free' } | { state: 'wrong'; fault: string };

interface Checked {
  data: { short_code: string; fault: string | null }[];
}

export const checkAll = (codes: string[]) => api.post<Checked>('/short-codes/check', { short_codes: codes });

/** Whether a short code can be had, as soon as somebody stops typing for a moment. */
export function useAvailability(shortCode: string): Availability {
  const [answer, setAnswer] = useState<{ shortCode: string; availability: Availability }>();
  const wrong = faultOfShortCode(shortCode);
  useEffect(() => {
    if (wrong !== undefined) return undefined;
    let isWanted = true;
    const timer = setTimeout(async () => {
      const fault = await checkAll([shortCode]).then(
        ({ data }) => data[0]?.fault ?? undefined,
        // The service will say so again when the code is made.
        () => undefined,
      );
      if (isWanted)
        setAnswer({ shortCode, availability: fault === undefined ? { state: 'free' } : { state: 'wrong', fault } });
    }, 150);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [shortCode, wrong]);
  if (wrong !== undefined) return { state: 'wrong', fault: wrong };
  return answer?.shortCode === shortCode ? answer.availability : { state: 'checking' };
}
