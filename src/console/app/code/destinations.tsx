import type { Rule } from '../../../../events/targeting/targeting-schema.ts';
import { CountCells, CountHeaders } from '../analytics/counts.tsx';
import type { Query } from '../api.ts';
import { displayDestination } from '../codes/destination.ts';
import { date, percent } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { useResource } from '../resource.ts';
import { ruleTitle } from '../rules/sentence.ts';
import type { Destinations, QrCode } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';

interface Props {
  code: QrCode;
  query: Query;
  refreshKey: string;
}

/** Scans of each destination, rule and variant that the code had in the period; nothing when there was only one. */
export function SplitByDestination({ code, query, refreshKey }: Props) {
  const { data } = useResource<Destinations>(`/qrcodes/${code.id}/analytics/destinations`, { query, refreshKey });
  const shown = data?.data.filter(({ to }) => to === null || to > data.period.start) ?? [];
  if (shown.length < 2) return null;
  const total = shown.reduce((sum, { total_scans }) => sum + total_scans, 0);
  // Destinations that followed one another are not compared by their share.
  const hasRules = shown.some(({ rule }) => rule !== null);
  return (
    <section class="card" aria-label="By destination">
      <h2>By destination</h2>
      <Scroll label="Scans by destination">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Destination</th>
              {hasRules && <th scope="col">Led by</th>}
              <th scope="col">In use</th>
              <CountHeaders />
              {hasRules && (
                <th scope="col" class="number">
                  Share of scans
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ destination_url, rule, variant, from, to, ...counts }) => (
              <tr key={`${from} ${destination_url} ${rule} ${variant}`}>
                <td class="wrapped">{displayDestination(destination_url)}</td>
                {hasRules && <td>{ledBy(code, rule, variant, destination_url)}</td>}
                <td>
                  {date(from)} – {to === null ? 'now' : date(to)}
                </td>
                <CountCells counts={counts} />
                {hasRules && <td class="number">{total === 0 ? '–' : percent(counts.total_scans / total)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

/** The rule and variant that led there, as far as the code still has them. */
function ledBy({ rules = [], fallback_url }: QrCode, id: string | null, variantId: string | null, url: string): string {
  if (id === null) return url === fallback_url ? 'Fallback' : 'Everyone else';
  const rule: Rule | undefined = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) return 'A former rule';
  const title = ruleTitle(rule, accountTimeZone());
  if (!('split' in rule)) return title;
  const i = rule.split.findIndex((variant) => variant.id === variantId);
  if (i === -1) return `${title}, a former variant`;
  return `${title}, ${rule.split[i]?.name ?? `variant ${String.fromCharCode(65 + i)}`}`;
}
