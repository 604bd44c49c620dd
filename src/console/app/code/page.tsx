import { ago, bare, date, number, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Copy } from '../parts/copy.tsx';
import { Heading } from '../parts/heading.tsx';
import { Segments } from '../parts/segments.tsx';
import { Empty, Failure, Skeleton, StatusBadge } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, usePlace } from '../router.ts';
import type { QrCode } from '../types.ts';
import { CodeActions } from './actions.tsx';
import { Analytics } from './analytics.tsx';
import { History } from './history.tsx';
import { Scans } from './scans.tsx';

const tabs = [
  ['analytics', 'Analytics'],
  ['scans', 'Scans'],
  ['history', 'History'],
] as const;

/** Scans come in at any moment; the counter is cheap to ask for. */
const everyMs = 3_000;

/** One code: what it is, what can be done with it, and what has happened to it. */
export function CodePage({ id }: { id: string }) {
  const { data: code, error, reload } = useResource<QrCode>(`/qrcodes/${id}`, { everyMs });
  const { query } = usePlace();
  if (error?.status === 404)
    return (
      <Empty title="There is no such code">
        <p>It was deleted, or belongs to the other mode.</p>
        <a class="button" href={pageUrl('/')}>
          To your codes
        </a>
      </Empty>
    );
  if (code === undefined)
    return error === undefined ? <Skeleton lines={8} /> : <Failure error={error} retry={reload} />;
  const tab = (tabs.find(([name]) => name === query.get('tab')) ?? tabs[0])[0];
  return (
    <>
      <a class="up" href={pageUrl('/')}>
        <Icon name="back" />
        All codes
      </a>
      <Heading title={code.name} lead={<StatusBadge status={code.status} />}>
        <CodeActions code={code} onChange={reload} />
      </Heading>
      <Facts code={code} />
      <Segments
        label="What to look at"
        options={tabs}
        value={tab}
        onValue={(name) => setQuery({ tab: name, page: undefined })}
      />
      {tab === 'analytics' && <Analytics code={code} />}
      {tab === 'scans' && <Scans code={code} />}
      {tab === 'history' && <History code={code} onChange={reload} />}
    </>
  );
}

const Facts = ({ code }: { code: QrCode }) => (
  <section class="facts card" aria-label="About this code">
    <img src={`/images/${code.id}/public?format=svg`} alt={`QR code for ${code.short_url}`} width="168" height="168" />
    <dl>
      <div>
        <dt>Short link</dt>
        <dd>
          <a href={code.short_url} target="_blank" rel="noreferrer">
            {bare(code.short_url)}
          </a>
          <Copy text={code.short_url} label="Copy the short link" />
        </dd>
      </div>
      <div>
        <dt>Leads to</dt>
        <dd>
          <a href={code.destination_url} target="_blank" rel="noreferrer">
            {bare(code.destination_url)}
          </a>
        </dd>
      </div>
      <div>
        <dt>Scans</dt>
        <dd class="figure">{number(code.total_scans)}</dd>
      </div>
      <div>
        <dt>Visitors</dt>
        <dd class="figure">{number(code.unique_scans)}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd title={time(code.created_at)}>{date(code.created_at)}</dd>
      </div>
      <div>
        <dt>Last changed</dt>
        <dd title={time(code.updated_at)}>{ago(code.updated_at)}</dd>
      </div>
    </dl>
  </section>
);
