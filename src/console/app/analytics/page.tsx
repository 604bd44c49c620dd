import { DomainSelect, useDomains } from '../codes/domain-select.tsx';
import { Heading } from '../parts/heading.tsx';
import { Segments } from '../parts/segments.tsx';
import { Empty } from '../parts/states.tsx';
import { Allowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, urlWith, useRoute } from '../router.ts';
import { analyticsTabs } from '../tabs.ts';
import type { CodeFigures, Page } from '../types.ts';
import { CodePicker } from './code-picker.tsx';
import { CodesTable } from './codes-table.tsx';
import { useFilters, withFilters } from './filters.ts';
import { Scans } from './scans.tsx';
import { TagPicker } from './tag-picker.tsx';
import { AnalyticsView } from './view.tsx';

const paths = {
  summary: '/analytics/aggregate',
  timeseries: '/analytics/timeseries',
  heatmap: '/analytics/heatmap',
  export: '/analytics/export',
};
const refresh = { refreshIntervalMs: 10_000 };
/** As many codes as the API lists at once. */
const maxListedCodes = 100;

/** Analytics over all codes, or over the selected ones. */
export function AccountAnalyticsPage() {
  const { query } = useRoute();
  const filters = useFilters();
  const domains = useDomains();
  const codes = useResource<Page<CodeFigures>>('/analytics/qrcodes', {
    query: { ...filters.query, compare: 'previous', limit: maxListedCodes },
    ...refresh,
  });
  const names = new Map(codes.data?.data.map(({ qr_id, name }) => [qr_id, name]));
  const codeUrl = (id: string) => withFilters(pageUrl(`/codes/${id}`), query);
  const tab = (analyticsTabs.find(([name]) => name === query.get('tab')) ?? analyticsTabs[0])[0];
  const picker = (
    <Allowed scope="codes.read">
      <CodePicker selected={filters.codes} />
      <TagPicker selected={filters.tags} match={filters.match} />
      <DomainSelect
        label="Domain"
        none="All domains"
        domains={domains}
        value={filters.domain}
        onValue={(domain) => setQuery({ domain, page: undefined })}
      />
    </Allowed>
  );
  const isNarrowed = filters.codes.length > 0 || filters.tags.length > 0 || filters.domain !== '';
  const heading = (
    <>
      <Heading title="Analytics" lead={isNarrowed ? 'Selected codes' : 'All codes'} />
      <Segments
        label="View"
        options={analyticsTabs}
        value={tab}
        onValue={(name) => setQuery({ tab: name, page: undefined })}
      />
    </>
  );
  if (codes.error?.status === 404)
    return (
      <>
        {heading}
        <Empty title="A selected code does not exist">
          <p>It may have been deleted.</p>
          <a class="button" href={urlWith({ codes: undefined })}>
            Show all codes
          </a>
        </Empty>
      </>
    );
  return (
    <>
      {heading}
      {tab === 'scans' ? (
        <Scans path="/analytics/scans" exportPath={paths.export} tools={picker} codes={{ names, url: codeUrl }} />
      ) : (
        <AnalyticsView
          paths={paths}
          filters={filters}
          refresh={refresh}
          codeNames={names}
          tools={picker}
          noScans={
            <Empty title="No such scans in this period">
              <p>Try a longer period, or fewer filters.</p>
            </Empty>
          }
        >
          <CodesTable codes={codes} filters={filters} codeUrl={codeUrl} />
        </AnalyticsView>
      )}
    </>
  );
}
