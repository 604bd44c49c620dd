import { useEffect, useState } from 'preact/hooks';
import { compact, date, displayUrl, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Copy } from '../parts/copy.tsx';
import { Heading } from '../parts/heading.tsx';
import { Pager } from '../parts/pager.tsx';
import { Segments } from '../parts/segments.tsx';
import { Empty, Failure, Skeleton, StatusBadge } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, useRoute } from '../router.ts';
import type { ListedQrCode, Page } from '../types.ts';
import { Overview } from './overview.tsx';

const statuses = [
  ['', 'All'],
  ['active', 'Active'],
  ['paused', 'Paused'],
  ['draft', 'Drafts'],
] as const;

const sortOptions = [
  ['-created_at', 'Newest first'],
  ['created_at', 'Oldest first'],
  ['-total_scans', 'Most scans'],
  ['total_scans', 'Fewest scans'],
  ['name', 'Name A–Z'],
  ['-name', 'Name Z–A'],
] as const;

export function CodesPage() {
  const { query } = useRoute();
  const filters = {
    q: query.get('q') ?? undefined,
    status: query.get('status') ?? undefined,
    sort: query.get('sort') ?? undefined,
    page: query.get('page') ?? undefined,
  };
  const { data, error, loading, reload } = useResource<Page<ListedQrCode>>('/qrcodes', {
    query: filters,
    refreshIntervalMs: 5_000,
  });
  const isFiltered = filters.q !== undefined || filters.status !== undefined;

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
          Create code
        </a>
      </Heading>
      {!isFiltered && filters.page === undefined && data !== undefined && data.data.length > 0 && (
        <Overview refreshKey={data.data.reduce((sum, { total_scans }) => sum + total_scans, 0)} />
      )}
      {(isFiltered || (data?.pagination.total ?? 0) > 0) && <Toolbar />}
      {error !== undefined ? (
        <Failure error={error} retry={reload} />
      ) : data === undefined ? (
        <Skeleton lines={6} />
      ) : data.data.length === 0 ? (
        <NoCodes isFiltered={isFiltered} />
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
  const { query } = useRoute();
  const [search, setSearch] = useState(query.get('q') ?? '');
  useEffect(() => {
    if (search.trim() === (query.get('q') ?? '')) return undefined;
    const timer = setTimeout(() => setQuery({ q: search.trim().slice(0, 255), page: undefined }), 200);
    return () => clearTimeout(timer);
  }, [search, query]);
  return (
    <div class="toolbar">
      <search class="input search">
        <Icon name="search" />
        <input
          type="search"
          value={search}
          placeholder="Name, destination or short code"
          aria-label="Search codes"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </search>
      <Segments
        label="Status"
        options={statuses}
        value={(query.get('status') ?? '') as (typeof statuses)[number][0]}
        onValue={(status) => setQuery({ status, page: undefined })}
      />
      <select
        aria-label="Sort by"
        value={query.get('sort') ?? '-created_at'}
        onChange={(event) => setQuery({ sort: event.currentTarget.value, page: undefined })}
      >
        {sortOptions.map(([sort, text]) => (
          <option key={sort} value={sort}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

const NoCodes = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching codes">
      <p>Try a different search or status.</p>
      <button
        type="button"
        class="button"
        onClick={() => setQuery({ q: undefined, status: undefined, page: undefined })}
      >
        Clear filters
      </button>
    </Empty>
  ) : (
    <Empty title="Create your first QR code">
      <p>Print it once, change its destination at any time, and see every scan.</p>
      <div class="actions">
        <a class="button primary" href={pageUrl('/codes/new')}>
          <Icon name="plus" />
          Create code
        </a>
        <a class="button" href={pageUrl('/codes/import')}>
          <Icon name="upload" />
          Import from CSV
        </a>
      </div>
    </Empty>
  );

const CodeTable = ({ codes }: { codes: ListedQrCode[] }) => (
  <table class="codes card">
    <thead>
      <tr>
        <th scope="col">Code</th>
        <th scope="col">Destination</th>
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
          <td class="identity">
            <span class="thumb">
              <img src={`/images/${id}/public?size=128`} alt="" width="48" height="48" loading="lazy" />
            </span>
            <div>
              <a class="name" href={pageUrl(`/codes/${id}`)}>
                {name}
              </a>
              <span class="link">
                {displayUrl(short_url)}
                <Copy text={short_url} label={`Copy short link of ${name}`} />
              </span>
            </div>
          </td>
          <td class="destination" title={destination_url}>
            {displayUrl(destination_url)}
          </td>
          <td class="status">
            <StatusBadge status={status} />
          </td>
          <td class="number">
            {compact(total_scans)}
            <span class="unit"> {total_scans === 1 ? 'scan' : 'scans'}</span>
          </td>
          <td class="created">{date(created_at)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
