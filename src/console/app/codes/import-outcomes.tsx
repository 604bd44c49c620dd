import { number, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { ShortLink } from '../parts/short-link.tsx';
import { pageUrl } from '../router.ts';
import { displayDestination } from './destination.ts';
import type { ImportRun, LinkOutcome } from './import-run.ts';

/** More rows would make the page slow; those with a problem come first. */
const maxShown = 500;

/** What became of the links of a file, or in a check what would. */
export function ImportOutcomes({ run: { isDryRun, outcomes, totals } }: { run: ImportRun }) {
  const sorted = [...outcomes].sort((a, b) => rankOf(a) - rankOf(b));
  const hidden = sorted.length - maxShown;
  return (
    <>
      {totals !== undefined && totals.unread_columns.length > 0 && (
        <p class="row nowrap verdict bad" role="status">
          <Icon name="warning" />
          <span>Not read: {totals.unread_columns.map((title) => `“${title}”`).join(', ')}.</span>
        </p>
      )}
      {sorted.length > 0 && (
        <Scroll label="Links" isCard>
          <table class="rows stacked">
            <thead>
              <tr>
                <th scope="col">Link</th>
                <th scope="col">Destination</th>
                <th scope="col">Code</th>
                <th scope="col">{isDryRun ? 'What would happen' : 'Result'}</th>
              </tr>
            </thead>
            <tbody>
              {sorted.slice(0, maxShown).map((outcome, i) => (
                <OutcomeRow key={i} outcome={outcome} isDryRun={isDryRun} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {hidden > 0 && <p class="hint">{number(hidden)} more links without a problem listed above are not shown.</p>}
    </>
  );
}

const rankOf = ({ outcome, reasons }: LinkOutcome) =>
  outcome === 'refused' ? 0 : reasons.length > 0 ? 1 : outcome === 'imported' ? 2 : 3;

const OutcomeRow = ({
  outcome: { link, destination_url, short_url, qr_id, ...result },
  isDryRun,
}: {
  outcome: LinkOutcome;
  isDryRun: boolean;
}) => (
  <tr class={result.outcome === 'refused' ? 'invalid' : ''}>
    <td>{link.startsWith('row-') ? <span class="muted">No short link</span> : link}</td>
    <td>{displayDestination(destination_url)}</td>
    <td>
      {qr_id === null ? (
        <CodeText shortUrl={short_url} isRefused={result.outcome === 'refused'} />
      ) : (
        <a href={pageUrl(`/codes/${qr_id}`)}>{short_url === null ? 'View code' : <ShortLink url={short_url} />}</a>
      )}
    </td>
    <td>
      <Result {...result} isDryRun={isDryRun} />
    </td>
  </tr>
);

const CodeText = ({ shortUrl, isRefused }: { shortUrl: string | null; isRefused: boolean }) =>
  shortUrl !== null ? <ShortLink url={shortUrl} /> : <span class="muted">{isRefused ? '–' : 'Generated'}</span>;

function Result({ outcome, reasons, isDryRun }: Pick<LinkOutcome, 'outcome' | 'reasons'> & { isDryRun: boolean }) {
  if (outcome === 'refused') return <span class="bad">Not possible: {reasons.join('; ')}.</span>;
  if (outcome === 'unchanged') return <span class="muted">Imported before</span>;
  return (
    <>
      <span class="good">
        <Icon name="check" /> {isDryRun ? 'Can be imported' : 'Imported'}
      </span>
      {reasons.length > 0 && <p class="hint">Without a part: {reasons.join('; ')}.</p>}
    </>
  );
}

/** "12 links can be imported, 3 were imported before, 2 are not possible." */
export function totalsText({ isDryRun, totals }: ImportRun): string {
  if (totals === undefined) return '';
  const { imported, unchanged, refused, incomplete } = totals;
  const verb = isDryRun ? 'can be imported' : imported === 1 ? 'was imported' : 'were imported';
  const parts = [
    `${plural(imported, 'link')} ${verb}`,
    ...(incomplete > 0 ? [`${number(incomplete)} of them without a part`] : []),
    ...(unchanged > 0 ? [`${number(unchanged)} imported before`] : []),
    ...(refused > 0 ? [`${number(refused)} not possible`] : []),
  ];
  return `${parts.join(', ')}.`;
}
