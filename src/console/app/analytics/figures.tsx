import type { ComponentChildren } from 'preact';
import { average, number, percent, plural, visitors } from '../format.ts';
import { urlWith } from '../router.ts';
import type { Summary } from '../types.ts';
import { Change } from './change.tsx';
import type { Filters } from './filters.ts';
import { periodBeforeLabel } from './period.ts';

type Totals = Summary['summary'];

interface Props {
  summary: Totals;
  previous: Totals | undefined;
  filters: Filters;
}

/** The figures of the period, each compared with the period before. */
export function Figures({ summary, previous, filters: { name, period, bots } }: Props) {
  const { total_scans, unique_visitors, avg_daily_scans, bot_scans } = summary;
  const before = periodBeforeLabel(name, period);
  const change = (figure: (totals: Totals) => number) =>
    previous && <Change now={figure(summary)} previous={figure(previous)} before={before} />;
  return (
    <dl class="grid figures">
      <Figure label="Scans">
        <a href={urlWith({ tab: 'scans', page: undefined })} title="Show the scans">
          {number(total_scans)}
        </a>{' '}
        {change((totals) => totals.total_scans)}
        <Bots scans={bot_scans} bots={bots} />
      </Figure>
      <Figure label="Visitors">
        {visitors(unique_visitors)} {change((totals) => totals.unique_visitors)}
      </Figure>
      <Figure label="Daily scans">
        {average(avg_daily_scans)} {change((totals) => totals.avg_daily_scans)}
      </Figure>
      <Figure label="New and returning visitors" kind="row visitor-split">
        {unique_visitors > 0 && (
          <span class="track" aria-hidden="true">
            <span style={{ inlineSize: `${(newVisitors(summary) / unique_visitors) * 100}%` }} />
          </span>
        )}
        <VisitorShare label="New" count={newVisitors(summary)} total={unique_visitors}>
          {change(newVisitors)}
        </VisitorShare>
        <VisitorShare label="Returning" count={returningVisitors(summary)} total={unique_visitors}>
          {change(returningVisitors)}
        </VisitorShare>
      </Figure>
    </dl>
  );
}

/** Visitors whose first scan of the code is in the period. The sum of both is `unique_visitors`, which may be an estimate. */
const newVisitors = ({ unique_scans, unique_visitors }: Totals) => Math.min(unique_scans, unique_visitors);
const returningVisitors = (totals: Totals) => totals.unique_visitors - newVisitors(totals);

const Figure = ({ label, kind, children }: { label: string; kind?: string; children: ComponentChildren }) => (
  <div class="card">
    <dt>{label}</dt>
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

const VisitorShare = ({
  label,
  count,
  total,
  children,
}: {
  label: string;
  count: number;
  total: number;
  children: ComponentChildren;
}) => (
  <span>
    {label} <strong>{visitors(count)}</strong>
    {total > 0 && ` (${percent(count / total)})`} {children}
  </span>
);
