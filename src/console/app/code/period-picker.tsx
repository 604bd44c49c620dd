import { apiUrl } from '../api.ts';
import { Icon } from '../icons.tsx';
import { setQuery, useRoute } from '../router.ts';
import type { QrCode } from '../types.ts';
import { type Interval, intervals, type Period, type PeriodName, periods } from './period.ts';

interface Props {
  code: QrCode;
  name: PeriodName;
  period: Period;
  /** Of the time series, where one is shown. */
  interval?: Interval;
}

/** Filters of the analytics, and export links for the filtered scans. */
export function PeriodPicker({ code, name, period, interval }: Props) {
  const { query } = useRoute();
  const bots = query.get('bots') ?? 'include';
  const exportUrl = (format: string) =>
    apiUrl(`/qrcodes/${code.id}/analytics/export`, { format, ...period, bots: query.get('bots') ?? undefined });
  const today = new Date().toISOString().slice(0, 10);
  return (
    <div class="toolbar">
      <select
        aria-label="Period"
        value={name}
        onChange={(event) => {
          const next = event.currentTarget.value;
          const dates = next === 'custom' ? { from: period.start_date.slice(0, 10), to: period.end_date ?? today } : {};
          setQuery({ period: next, interval: undefined, from: undefined, to: undefined, ...dates });
        }}
      >
        {periods.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
      {name === 'custom' && (
        <span class="dates">
          <input
            type="date"
            aria-label="Start date"
            max={query.get('to') ?? today}
            value={query.get('from') ?? ''}
            onChange={(event) => setQuery({ from: event.currentTarget.value, interval: undefined })}
          />
          –
          <input
            type="date"
            aria-label="End date"
            min={query.get('from') ?? ''}
            max={today}
            value={query.get('to') ?? ''}
            onChange={(event) => setQuery({ to: event.currentTarget.value, interval: undefined })}
          />
        </span>
      )}
      {interval !== undefined && (
        <select
          aria-label="Interval"
          value={interval}
          onChange={(event) => setQuery({ interval: event.currentTarget.value })}
        >
          {intervals.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label="Bots"
        value={bots}
        onChange={(event) =>
          setQuery({ bots: event.currentTarget.value === 'include' ? undefined : event.currentTarget.value })
        }
      >
        <option value="include">All scans</option>
        <option value="exclude">Without bots</option>
        <option value="only">Bots only</option>
      </select>
      <span class="spacer" />
      <span class="actions">
        <a class="button" href={exportUrl('csv')} download>
          <Icon name="download" />
          Export CSV
        </a>
        <a class="button" href={exportUrl('json')} download>
          <Icon name="download" />
          Export JSON
        </a>
      </span>
    </div>
  );
}
