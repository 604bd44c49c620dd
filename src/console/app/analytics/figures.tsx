import type { ComponentChildren } from 'preact';
import { number, percent, plural } from '../format.ts';
import { urlWith } from '../router.ts';
import type { Summary } from '../types.ts';
import { Change } from './change.tsx';
import type { Filters } from './filters.ts';
import { periodBeforeLabel, periodLabel } from './period.ts';

type Totals = Summary['summary'];

/** Above this number, the service estimates visitors of a period. */
const maxExactVisitors = 5_000;

interface Props {
  summary: Totals;
  previous: Totals | undefined;
  filters: Filters;
}

/** The figures of the period, each compared with the period before. */
export function Figures({ summary, previous, filters: { name, period, bots } }: Props) {
  const { total_scans, unique_visitors, avg_daily_scans, unique_scans, bot_scans } = summary;
  const label = periodLabel(name, period);
  const before = periodBeforeLabel(name, period);
  const isEstimate = unique_visitors > maxExactVisitors;
  const change = (figure: keyof Totals) =>
    previous && <Change now={summary[figure]} previous={previous[figure]} before={before} />;
  return (
    <dl class="figures">
      <Figure label="Scans" period={label}>
        <a href={urlWith({ tab: 'scans', page: undefined })} title="Show the scans">
          {number(total_scans)}
        </a>{' '}
        {change('total_scans')}
        <Bots scans={bot_scans} bots={bots} />
      </Figure>
      <Figure label="Visitors" period={isEstimate ? `${label}, estimated to 1%` : label}>
        {isEstimate && '≈ '}
        {number(unique_visitors)} {change('unique_visitors')}
      </Figure>
      <Figure label="Daily scans" period={label}>
        {number(avg_daily_scans)} {change('avg_daily_scans')}
      </Figure>
      <Figure label="New and returning visitors" period={label} kind="visitor-split">
        {total_scans > 0 && (
          <span class="track" aria-hidden="true">
            <span style={{ inlineSize: `${(unique_scans / total_scans) * 100}%` }} />
          </span>
        )}
        <ScanShare label="New" scans={unique_scans} total={total_scans}>
          {change('unique_scans')}
        </ScanShare>
        <ScanShare label="Returning" scans={total_scans - unique_scans} total={total_scans}>
          {previous && (
            <Change
              now={total_scans - unique_scans}
              previous={previous.total_scans - previous.unique_scans}
              before={before}
            />
          )}
        </ScanShare>
      </Figure>
    </dl>
  );
}

const Figure = ({
  label,
  period,
  kind,
  children,
}: {
  label: string;
  period: string;
  kind?: string;
  children: ComponentChildren;
}) => (
  <div class="card">
    <dt>
      <span>{label}</span> <small>{period}</small>
    </dt>
    <dd class={kind}>{children}</dd>
  </div>
);

/** The scans by bots beside those by people, and the switch between the two. */
export function Bots({ scans, bots }: { scans: number; bots: Filters['bots'] }) {
  if (scans === 0 || bots === 'only') return null;
  return bots === 'exclude' ? (
    <a class="bots" href={urlWith({ bots: 'include', page: undefined })}>
      +{plural(scans, 'bot')}
    </a>
  ) : (
    <a class="bots" href={urlWith({ bots: undefined, page: undefined })}>
      {plural(scans, 'bot')} included
    </a>
  );
}

const ScanShare = ({
  label,
  scans,
  total,
  children,
}: {
  label: string;
  scans: number;
  total: number;
  children: ComponentChildren;
}) => (
  <span>
    {label} <strong>{number(scans)}</strong>
    {total > 0 && ` (${percent(scans / total)})`} {children}
  </span>
);
