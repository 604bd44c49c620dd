import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Query } from '../api.ts';
import { plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Heading } from '../parts/heading.tsx';
import { pageQueryOf } from '../parts/page-numbers.ts';
import { Paged } from '../parts/pager.tsx';
import { Segments } from '../parts/segments.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { Allowed, may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, replaceQuery, setQuery, useRoute } from '../router.ts';
import type { ListedQrCode, Page } from '../types.ts';
import { CodeTable } from './code-table.tsx';
import { DomainSelect, useDomains } from './domain-select.tsx';
import { maxEdited } from './edit-dialog.tsx';
import { useMarks } from './marks.ts';
import { Overview } from './overview.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { TagFilter } from './tag-filter.tsx';
import { useSelection } from './use-selection.ts';

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

const sizes = [20, 50, 100] as const;
const maxSearchLength = 255;

/** The option of that name in the query; undefined for an unknown one. */
const chosen = <T extends string>(options: readonly (readonly [T, string])[], value: string | null): T | undefined =>
  options.find(([option]) => option === value)?.[0] || undefined;

export function CodesPage() {
  const { query } = useRoute();
  const filters = {
    q: query.get('q')?.slice(0, maxSearchLength) || undefined,
    status: chosen(statuses, query.get('status')),
    tag: query.get('tag') || undefined,
    domain: query.get('domain') || undefined,
    sort: chosen(sortOptions, query.get('sort')),
    ...pageQueryOf(query, sizes),
  };
  const { data, error, loading, reload } = useResource<Page<ListedQrCode>>('/qrcodes', {
    query: filters,
    refreshIntervalMs: 5_000,
  });
  const selection = useSelection(data?.data ?? []);
  const { marks, reload: reloadMarks } = useMarks(data?.data ?? []);
  const isFiltered = [filters.q, filters.status, filters.tag, filters.domain].some((filter) => filter !== undefined);
  const total = data?.pagination.total ?? 0;

  return (
    <>
      <Heading title="QR codes" lead={total === 0 ? undefined : plural(total, 'code')}>
        <Allowed scope="codes.write">
          <a class="button" href={pageUrl('/codes/import')}>
            <Icon name="upload" />
            Import
          </a>
          <a class="button primary" href={pageUrl('/codes/new')}>
            <Icon name="plus" />
            Create code
          </a>
        </Allowed>
      </Heading>
      {may('analytics.read') &&
        !isFiltered &&
        filters.page === undefined &&
        data !== undefined &&
        data.data.length > 0 && (
          <Overview refreshKey={data.data.reduce((sum, { total_scans }) => sum + total_scans, 0)} />
        )}
      {(isFiltered || total > 0) && <Toolbar />}
      {selection.codes.length > 0 && (
        <SelectionBar
          selection={selection}
          total={total}
          selectAll={async () => selection.set(await codesOf(filters, total), true)}
          onChange={async () => {
            await Promise.all([reload(), reloadMarks()]);
          }}
        />
      )}
      {error !== undefined && data === undefined ? (
        <Failure error={error} retry={reload} />
      ) : data === undefined ? (
        <Skeleton lines={6} />
      ) : total === 0 ? (
        <NoCodes isFiltered={isFiltered} />
      ) : (
        <Paged what="codes" pagination={data.pagination} sizes={sizes} loading={loading}>
          <CodeTable codes={data.data} marks={marks} selection={selection} />
        </Paged>
      )}
    </>
  );
}

const maxPageSize = 100;

/** All codes that a list shows on its pages, as many as can be edited together. */
async function codesOf(filters: Query, total: number): Promise<ListedQrCode[]> {
  const codes: ListedQrCode[] = [];
  for (let page = 1; (page - 1) * maxPageSize < Math.min(total, maxEdited); page++) {
    const { data } = await api.get<Page<ListedQrCode>>('/qrcodes', { ...filters, page, limit: maxPageSize });
    codes.push(...data);
  }
  return codes;
}

function Toolbar() {
  const { query } = useRoute();
  const inUrl = query.get('q') ?? '';
  const [search, setSearch] = useState(inUrl);
  const lastSent = useRef(inUrl);
  // Back and links change the search as well.
  useEffect(() => {
    if (inUrl === lastSent.current) return;
    lastSent.current = inUrl;
    setSearch(inUrl);
  }, [inUrl]);
  useEffect(() => {
    const q = search.trim().slice(0, maxSearchLength);
    if (q === lastSent.current) return undefined;
    const timer = setTimeout(() => {
      // A new search is a history entry, its letters are not.
      const change = lastSent.current === '' ? setQuery : replaceQuery;
      lastSent.current = q;
      change({ q, page: undefined });
    }, 200);
    return () => clearTimeout(timer);
  }, [search]);
  return (
    <div class="row gap-m toolbar">
      <search class="input search">
        <Icon name="search" />
        <input
          type="search"
          value={search}
          placeholder="Name, destination, note, short link or ID"
          aria-label="Search codes"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </search>
      <Segments
        label="Status"
        options={statuses}
        value={chosen(statuses, query.get('status')) ?? ''}
        onValue={(status) => setQuery({ status, page: undefined })}
      />
      <TagFilter value={query.get('tag') || undefined} />
      <DomainSelect
        label="Domain"
        none="All domains"
        domains={useDomains()}
        value={query.get('domain') ?? ''}
        onValue={(domain) => setQuery({ domain, page: undefined })}
      />
      <select
        aria-label="Sort by"
        value={chosen(sortOptions, query.get('sort')) ?? '-created_at'}
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
      <p>Try a different search, status, tag or domain.</p>
      <button
        type="button"
        class="button"
        onClick={() =>
          setQuery({ q: undefined, status: undefined, tag: undefined, domain: undefined, page: undefined })
        }
      >
        Clear filters
      </button>
    </Empty>
  ) : !may('codes.write') ? (
    <Empty title="No codes yet" />
  ) : (
    <Empty title="Create your first QR code">
      <p>Print it once, change its destination at any time, and see every scan.</p>
      <div class="row actions">
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
