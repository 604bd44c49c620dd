import { useEffect, useState } from 'preact/hooks';

/** Analytics lag the scan counter: by up to 2 s, and by more while the service is busy. */
const readAgainAfterMs = [2_500, 10_000, 30_000, 90_000];

/** A key that changes with every new scan, and some times after it. */
export function useRefreshKey(total: number): string {
  const [repeats, setRepeats] = useState(0);
  useEffect(() => {
    const timers = readAgainAfterMs.map((ms) => setTimeout(() => setRepeats((before) => before + 1), ms));
    return () => timers.forEach(clearTimeout);
  }, [total]);
  return `${total} ${repeats}`;
}
