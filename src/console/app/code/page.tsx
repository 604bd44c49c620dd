import { Scans } from '../analytics/scans.tsx';
import { displayDestination } from '../codes/destination.ts';
import { date, number, plural, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { AvailabilityBadge } from '../parts/availability.tsx';
import { Copy } from '../parts/copy.tsx';
import { Heading } from '../parts/heading.tsx';
import { ProofBadge } from '../parts/proof.tsx';
import { Segments } from '../parts/segments.tsx';
import { ShortLink } from '../parts/short-link.tsx';
import { Empty, Loading, StatusBadge } from '../parts/states.tsx';
import { may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { currentMode, listUrl, pageUrl, setQuery, urlWith, useRoute } from '../router.ts';
import { LeadsPage } from '../rules/page.tsx';
import { type CodeTab, codeTabs } from '../tabs.ts';
import type { Proof, QrCode } from '../types.ts';
import { CodeActions } from './actions.tsx';
import { Analytics } from './analytics.tsx';
import { History } from './history.tsx';
import { CodeTags } from './tags.tsx';

const refreshIntervalMs = 3_000;

/** The page of one code: details, actions, analytics, scans and history. */
export function CodePage({ id }: { id: string }) {
  const { data: code, error, reload } = useResource<QrCode>(`/qrcodes/${id}`, { refreshIntervalMs });
  const { query } = useRoute();
  if (error?.status === 404)
    return (
      <Empty title="Code not found">
        <p>It may have been deleted, or it belongs to {currentMode() === 'live' ? 'test' : 'live'} mode.</p>
        <a class="button" href={pageUrl('/')}>
          View all codes
        </a>
      </Empty>
    );
  if (code === undefined) return <Loading error={error} retry={reload} lines={8} />;
  const tabs = codeTabs.filter(([, , scope]) => may(scope)).map(([name, text]) => [name, text] as const);
  const [first] = tabs[0] ?? codeTabs[1];
  const tab: CodeTab = tabs.find(([name]) => name === query.get('tab'))?.[0] ?? first;
  const openTab = (name: CodeTab) =>
    setQuery({ tab: name === first ? undefined : name, page: undefined, limit: undefined });
  return (
    <>
      <a class="back" href={listUrl()}>
        <Icon name="back" />
        All codes
      </a>
      <Heading title={code.name} lead={<Badges code={code} />}>
        <CodeActions code={code} onChange={reload} />
      </Heading>
      <Details code={code} onChange={reload} />
      <Segments label="View" options={tabs} value={tab} onValue={openTab} />
      {tab === 'analytics' && <Analytics code={code} />}
      {tab === 'leads' && <LeadsPage key={code.id} code={code} onChange={reload} />}
      {tab === 'scans' && (
        <Scans
          path={`/qrcodes/${code.id}/analytics/scans`}
          exportPath={`/qrcodes/${code.id}/analytics/export`}
          refreshKey={code.total_scans}
        />
      )}
      {tab === 'history' && <History code={code} onChange={reload} />}
    </>
  );
}

/** The image of a code never changes, so it is proofed once. */
function Badges({ code: { id, status, availability, has_password } }: { code: QrCode }) {
  const { data: proof } = useResource<Proof>(`/qrcodes/${id}/preflight`);
  return (
    <>
      <StatusBadge status={status} /> <AvailabilityBadge availability={availability} />{' '}
      {has_password && <span class="badge">Password</span>} {proof !== undefined && <ProofBadge proof={proof} />}
    </>
  );
}

const Details = ({ code, onChange }: { code: QrCode; onChange(): Promise<void> }) => (
  <section class="card row nowrap details" aria-label="Code details">
    <img src={`/images/${code.id}/public?format=svg`} alt={`QR code for ${code.short_url}`} width="96" height="96" />
    <dl class="grid">
      <div>
        <dt>Short link</dt>
        <dd>
          <a href={code.short_url} target="_blank" rel="noreferrer">
            <ShortLink url={code.short_url} />
          </a>
          <Copy text={code.short_url} label="Copy short link" />
        </dd>
      </div>
      <div>
        <dt>Destination</dt>
        <dd>
          <a class="clip" href={code.destination_url} target="_blank" rel="noreferrer">
            {displayDestination(code.destination_url)}
          </a>
          {code.rules !== undefined && (
            <a class="by-rules" href={urlWith({ tab: 'leads' })}>
              or by {plural(code.rules.length, 'rule')}
            </a>
          )}
        </dd>
      </div>
      <div>
        <dt>
          Scans <small>all time, with bots</small>
        </dt>
        <dd class="figure">{number(code.total_scans)}</dd>
        {code.imported_scans !== undefined && (
          <dd>
            <small>
              {plural(code.imported_scans, 'scan')} before the import on {date(code.created_at)}
            </small>
          </dd>
        )}
      </div>
      <div>
        <dt>
          Visitors <small>all time, exact</small>
        </dt>
        <dd class="figure">{number(code.unique_scans)}</dd>
      </div>
      <div class="tags">
        <dt>Tags</dt>
        <dd>
          <CodeTags code={code} onChange={onChange} />
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd title={time(code.created_at)}>{date(code.created_at)}</dd>
        {code.imported_at !== undefined && (
          <dd title={time(code.imported_at)}>
            <small>imported from a link of {date(code.imported_at)}</small>
          </dd>
        )}
      </div>
      <div>
        <dt>Last updated</dt>
        <dd title={time(code.updated_at)}>{relativeTime(code.updated_at)}</dd>
      </div>
      {code.note !== undefined && (
        <div class="note">
          <dt>Note</dt>
          <dd dir="auto">{code.note}</dd>
        </div>
      )}
    </dl>
  </section>
);
