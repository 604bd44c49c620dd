import type { ComponentChildren } from 'preact';
import { apiUrl } from '../api.ts';
import { Icon } from '../icons.tsx';
import { setQuery, useRoute } from '../router.ts';
import { botOptions } from './filter-columns.ts';
import type { Filters } from './filters.ts';
import { type Interval, intervals, periods, todayIn } from './period.ts';

interface Props {
  filters: Filters;
  exportPath: string;
  /** Of the time series, where one is shown. */
  interval?: Interval;
  tools?: ComponentChildren;
}

/** Period, interval and bots of the analytics, and export links for the filtered scans. */
export function PeriodPicker({
  filters: { name, period, timezone, bots, query: filterQuery },
  exportPath,
  interval,
  tools,
}: Props) {
  const { query } = useRoute();
  const exportUrl = (format: string) => apiUrl(exportPath, { format, columns: 'all', ...filterQuery });
  const today = todayIn(timezone);
  return (
    <div class="row gap-m toolbar">
      {tools}
      <select
        aria-label="Period"
        value={name}
        onChange={(event) => {
          const next = event.currentTarget.value;
          const dates = next === 'custom' ? { from: period.start_date.slice(0, 10), to: period.end_date ?? today } : {};
          setQuery({ period: next, interval: undefined, from: undefined, to: undefined, page: undefined, ...dates });
        }}
      >
        {periods.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
      {name === 'custom' && (
        <span class="row gap-xs">
          <input
            type="date"
            aria-label="Start date"
            max={query.get('to') ?? today}
            value={query.get('from') ?? ''}
            onChange={(event) => setQuery({ from: event.currentTarget.value, interval: undefined, page: undefined })}
          />
          –
          <input
            type="date"
            aria-label="End date"
            min={query.get('from') ?? ''}
            max={today}
            value={query.get('to') ?? ''}
            onChange={(event) => setQuery({ to: event.currentTarget.value, interval: undefined, page: undefined })}
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
        onChange={({ currentTarget: { value } }) =>
          setQuery({ bots: value === 'exclude' ? undefined : value, page: undefined })
        }
      >
        {botOptions.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
      <span class="spacer" />
      <span class="row actions">
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
