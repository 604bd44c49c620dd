import { api, type Query } from '../api.ts';
import { plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Heading } from '../parts/heading.tsx';
import { pageQueryOf } from '../parts/page-numbers.ts';
import { Paged } from '../parts/pager.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { Allowed, may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, useRoute } from '../router.ts';
import type { ListedQrCode, Page } from '../types.ts';
import { CodeTable } from './code-table.tsx';
import { display } from './display.ts';
import { maxEdited } from './edit-dialog.tsx';
import { maxSearchLength, sizes, sortOf, statusOf } from './listing.ts';
import { useMarks } from './marks.ts';
import { Overview } from './overview.tsx';
import { useRecentScans } from './recent-scans.ts';
import { SelectionBar } from './selection-bar.tsx';
import { Toolbar } from './toolbar.tsx';
import { useSelection } from './use-selection.ts';

export function CodesPage() {
  const { query } = useRoute();
  const filters = {
    q: query.get('q')?.slice(0, maxSearchLength) || undefined,
    status: statusOf(query),
    tag: query.get('tag') || undefined,
    domain: query.get('domain') || undefined,
    sort: sortOf(query),
    ...pageQueryOf(query, sizes),
  };
  const { data, error, loading, reload } = useResource<Page<ListedQrCode>>('/qrcodes', {
    query: filters,
    refreshIntervalMs: 5_000,
  });
  const selection = useSelection(data?.data ?? []);
  const shown = display.use();
  const recent = useRecentScans(data?.data ?? [], shown.columns.includes('recent') && may('analytics.read'));
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
        data.data.length > 0 && <Overview counted={data.data.reduce((sum, { total_scans }) => sum + total_scans, 0)} />}
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
          <CodeTable
            codes={data.data}
            marks={marks}
            recent={recent}
            selection={selection}
            display={shown}
            sort={filters.sort}
          />
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
          Import
        </a>
      </div>
    </Empty>
  );
