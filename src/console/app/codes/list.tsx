import { useEffect, useState } from 'preact/hooks';
import { bare, compact, date, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Copy } from '../parts/copy.tsx';
import { Heading } from '../parts/heading.tsx';
import { Pager } from '../parts/pager.tsx';
import { Segments } from '../parts/segments.tsx';
import { Empty, Failure, Skeleton, StatusBadge } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, usePlace } from '../router.ts';
import type { ListedQrCode, Page } from '../types.ts';
import { Overview } from './overview.tsx';

const statuses = [
  ['', 'All'],
  ['active', 'Active'],
  ['paused', 'Paused'],
  ['draft', 'Drafts'],
] as const;

const orders = [
  ['-created_at', 'Newest first'],
  ['created_at', 'Oldest first'],
  ['-total_scans', 'Most scans'],
  ['total_scans', 'Fewest scans'],
  ['name', 'Name, A to Z'],
  ['-name', 'Name, Z to A'],
] as const;

export function CodesPage() {
  const { query } = usePlace();
  const asked = {
    q: query.get('q') ?? undefined,
    status: query.get('status') ?? undefined,
    sort: query.get('sort') ?? undefined,
    page: query.get('page') ?? undefined,
  };
  const { data, error, loading, reload } = useResource<Page<ListedQrCode>>('/qrcodes', {
    query: asked,
    everyMs: 5_000,
  });
  const isNarrowed = asked.q !== undefined || asked.status !== undefined;

  return (
    <>
      <Heading
        title="QR codes"
        lead={data === undefined || data.pagination.total === 0 ? undefined : plural(data.pagination.total, 'code')}
      >
        <a class="button" href={pageUrl('/codes/import')}>
          <Icon name="upload" />
          Import
        </a>
        <a class="button primary" href={pageUrl('/codes/new')}>
          <Icon name="plus" />
          New code
        </a>
      </Heading>
      {!isNarrowed && asked.page === undefined && data !== undefined && data.data.length > 0 && (
        <Overview since={data.data.reduce((sum, { total_scans }) => sum + total_scans, 0)} />
      )}
      {(isNarrowed || (data?.pagination.total ?? 0) > 0) && <Toolbar />}
      {error !== undefined ? (
        <Failure error={error} retry={reload} />
      ) : data === undefined ? (
        <Skeleton lines={6} />
      ) : data.data.length === 0 ? (
        <Nothing isNarrowed={isNarrowed} />
      ) : (
        <div aria-busy={loading}>
          <CodeTable codes={data.data} />
          <Pager what="codes" pagination={data.pagination} onPage={(page) => setQuery({ page: String(page) })} />
        </div>
      )}
    </>
  );
}

function Toolbar() {
  const { query } = usePlace();
  const [words, setWords] = useState(query.get('q') ?? '');
  useEffect(() => {
    if (words.trim() === (query.get('q') ?? '')) return undefined;
    const timer = setTimeout(() => setQuery({ q: words.trim().slice(0, 255), page: undefined }), 200);
    return () => clearTimeout(timer);
  }, [words, query]);
  return (
    <div class="toolbar">
      <search class="input search">
        <Icon name="search" />
        <input
          type="search"
          value={words}
          placeholder="Search name, destination or short code"
          aria-label="Search codes"
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </search>
      <Segments
        label="Status"
        options={statuses}
        value={(query.get('status') ?? '') as (typeof statuses)[number][0]}
        onValue={(status) => setQuery({ status, page: undefined })}
      />
      <select
        aria-label="Order"
        value={query.get('sort') ?? '-created_at'}
        onChange={(event) => setQuery({ sort: event.currentTarget.value, page: undefined })}
      >
        {orders.map(([order, text]) => (
          <option key={order} value={order}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

const Nothing = ({ isNarrowed }: { isNarrowed: boolean }) =>
  isNarrowed ? (
    <Empty title="No code fits">
      <p>Try fewer words, or another status.</p>
      <button
        type="button"
        class="button"
        onClick={() => setQuery({ q: undefined, status: undefined, page: undefined })}
      >
        Show all codes
      </button>
    </Empty>
  ) : (
    <Empty title="Make your first QR code">
      <p>Print it once. Change where it leads as often as you like, and see every scan.</p>
      <div class="actions">
        <a class="button primary" href={pageUrl('/codes/new')}>
          <Icon name="plus" />
          New code
        </a>
        <a class="button" href={pageUrl('/codes/import')}>
          <Icon name="upload" />
          Import a list
        </a>
      </div>
    </Empty>
  );

const CodeTable = ({ codes }: { codes: ListedQrCode[] }) => (
  <table class="codes card">
    <thead>
      <tr>
        <th scope="col">Code</th>
        <th scope="col">Leads to</th>
        <th scope="col">Status</th>
        <th scope="col" class="number">
          Scans
        </th>
        <th scope="col">Created</th>
      </tr>
    </thead>
    <tbody>
      {codes.map(({ id, name, destination_url, short_url, status, total_scans, created_at }) => (
        <tr key={id}>
          <td class="what">
            <span class="thumb">
              <img src={`/images/${id}/public?size=128`} alt="" width="48" height="48" loading="lazy" />
            </span>
            <div>
              <a class="name" href={pageUrl(`/codes/${id}`)}>
                {name}
              </a>
              <span class="link">
                {bare(short_url)}
                <Copy text={short_url} label={`Copy the short link of ${name}`} />
              </span>
            </div>
          </td>
          <td class="where" title={destination_url}>
            {bare(destination_url)}
          </td>
          <td class="state">
            <StatusBadge status={status} />
          </td>
          <td class="number">
            {compact(total_scans)}
            <span class="unit"> {total_scans === 1 ? 'scan' : 'scans'}</span>
          </td>
          <td class="when">{date(created_at)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
