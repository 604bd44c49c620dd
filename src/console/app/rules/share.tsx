import { percent } from '../format.ts';
import { shareInterval } from './interval.ts';

/** A share with its 95 % interval, in words and on a scale from 0 to 100 %. */
export function ShareOfScans({ scans, total }: { scans: number; total: number }) {
  if (total === 0) return <span class="muted">–</span>;
  const { low, high } = shareInterval(scans, total);
  return (
    <span class="share-of-scans">
      <span>
        <strong>{percent(scans / total)}</strong>{' '}
        <span class="muted">
          {percent(low)} to {percent(high)}
        </span>
      </span>
      <span class="scale" aria-hidden="true">
        <span style={{ left: `${low * 100}%`, width: `${(high - low) * 100}%` }} />
        <i style={{ left: `${(scans / total) * 100}%` }} />
      </span>
    </span>
  );
}
