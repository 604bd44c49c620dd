import type { ComponentChildren } from 'preact';
import { apiUrl } from '../api.ts';
import { Icon } from '../icons.tsx';
import { SettledSelect } from '../parts/settled-select.tsx';
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
      <SettledSelect
        label="Period"
        options={periods}
        value={name}
        onValue={(next) => {
          const dates = next === 'custom' ? { from: period.start_date.slice(0, 10), to: period.end_date ?? today } : {};
          setQuery({ period: next, interval: undefined, from: undefined, to: undefined, page: undefined, ...dates });
        }}
      />
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
        <SettledSelect
          label="Interval"
          options={intervals}
          value={interval}
          onValue={(next) => setQuery({ interval: next })}
        />
      )}
      <SettledSelect
        label="Bots"
        options={botOptions}
        value={bots}
        onValue={(next) => setQuery({ bots: next === 'exclude' ? undefined : next, page: undefined })}
      />
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
