import { compact, percent } from '../format.ts';

interface Props {
  title: string;
  /** `href` filters the page by the row. */
  rows: { label: string; hint?: string | undefined; scans: number; href: string }[];
  /** What the shares refer to. Bar widths are relative to the largest row. */
  total: number;
  empty: string;
}

/** The rest is closed. */
const maxShown = 10;

/** A ranked bar chart with counts and shares. */
export function Bars({ title, rows, total, empty }: Props) {
  const [first, others] = [rows.slice(0, maxShown), rows.slice(maxShown)];
  const largest = Math.max(1, ...rows.map(({ scans }) => scans));
  return (
    <section class="card bars" aria-label={title}>
      <h2>{title}</h2>
      {rows.every(({ scans }) => scans === 0) ? (
        <p class="hint">{empty}</p>
      ) : (
        <>
          <BarList rows={first} largest={largest} total={total} />
          {others.length > 0 && (
            <details>
              <summary>{others.length} more</summary>
              <BarList rows={others} largest={largest} total={total} />
            </details>
          )}
        </>
      )}
    </section>
  );
}

const BarList = ({ rows, largest, total }: Pick<Props, 'rows' | 'total'> & { largest: number }) => (
  <ul>
    {rows.map(({ label, hint, scans, href }) => (
      <li key={`${label} ${hint}`} class="row nowrap gap-m">
        <span class="bar" style={{ inlineSize: `${(scans / largest) * 100}%` }} />
        {scans === 0 ? (
          <span class="label clip">{label}</span>
        ) : (
          <a class="label clip" href={href} title={`Show only ${label}`}>
            {label}
            {hint !== undefined && <small>{hint}</small>}
          </a>
        )}
        <span class="value">{compact(scans)}</span>
        <span class="share">{percent(total === 0 ? 0 : scans / total)}</span>
      </li>
    ))}
  </ul>
);
