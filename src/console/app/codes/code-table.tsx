import type { ComponentChildren } from 'preact';
import { compact, date, number } from '../format.ts';
import { Icon } from '../icons.tsx';
import { AvailabilityBadge } from '../parts/availability.tsx';
import { Copy } from '../parts/copy.tsx';
import { ShortLink } from '../parts/short-link.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { StatusBadge } from '../parts/states.tsx';
import { pageUrl, urlWith } from '../router.ts';
import type { ListedQrCode } from '../types.ts';
import { displayDestination } from './destination.ts';
import type { Column, Display } from './display.ts';
import type { Sort } from './listing.ts';
import type { Mark } from './marks.ts';
import type { RecentScans } from './recent-scans.ts';
import { headerSort } from './sort.ts';
import type { Selection } from './use-selection.ts';

interface Props {
  codes: ListedQrCode[];
  /** By id; the marks of a new page arrive after its codes. */
  marks: ReadonlyMap<string, Mark>;
  recent: ReadonlyMap<string, RecentScans>;
  selection: Selection;
  display: Display;
  sort: Sort;
}

export function CodeTable({ codes, marks, recent, selection, display, sort }: Props) {
  const selectedCount = codes.filter(selection.has).length;
  const shows = (column: Column) => display.columns.includes(column);
  return (
    <table class={`codes card ${display.isCompact ? 'compact' : ''}`}>
      <thead>
        <tr>
          <th scope="col" class="select">
            <label class="pick">
              <input
                type="checkbox"
                aria-label="Select all codes on this page"
                checked={selectedCount === codes.length}
                indeterminate={selectedCount > 0 && selectedCount < codes.length}
                onChange={(event) => selection.set(codes, event.currentTarget.checked)}
              />
              <span class="narrow">Select all</span>
            </label>
          </th>
          <SortHeader class="code" first="name" current={sort}>
            Code
          </SortHeader>
          {shows('destination') && (
            <SortHeader class="leads-to" first="destination_url" current={sort}>
              Destination
            </SortHeader>
          )}
          {shows('status') && (
            <SortHeader class="status" first="status" current={sort}>
              Status
            </SortHeader>
          )}
          {shows('recent') && (
            <th
              scope="col"
              class="recent number"
              title="As in analytics: without bots, unless you choose to count them"
            >
              Scans, 30 days
            </th>
          )}
          {shows('total') && (
            <SortHeader class="total number" first="-total_scans" current={sort}>
              Scans, all time
            </SortHeader>
          )}
          {shows('created') && (
            <SortHeader class="created" first="-created_at" current={sort}>
              Created
            </SortHeader>
          )}
        </tr>
      </thead>
      <tbody>
        {codes.map((code) => (
          <CodeRow
            key={code.id}
            code={code}
            mark={marks.get(code.id)}
            recent={recent.get(code.id)}
            selection={selection}
            shows={shows}
          />
        ))}
      </tbody>
    </table>
  );
}

interface HeaderProps {
  class: string;
  /** The order that the first click on the header chooses. */
  first: Sort;
  current: Sort;
  children: ComponentChildren;
}

function SortHeader({ class: className, first, current, children }: HeaderProps) {
  const { direction, url } = headerSort(first, current);
  return (
    <th scope="col" class={className} aria-sort={direction}>
      <a class="sort" href={url}>
        {children}
        {direction !== 'none' && <Icon name={direction === 'ascending' ? 'up' : 'down'} />}
      </a>
    </th>
  );
}

interface RowProps {
  code: ListedQrCode;
  mark: Mark | undefined;
  recent: RecentScans | undefined;
  selection: Selection;
  shows(column: Column): boolean;
}

function CodeRow({ code, mark, recent, selection, shows }: RowProps) {
  const { id, name, destination_url, short_url, status, total_scans, created_at } = code;
  return (
    <tr>
      <td class="select">
        <label class="pick">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selection.has(code)}
            onChange={(event) => selection.set([code], event.currentTarget.checked)}
          />
        </label>
      </td>
      <td class="code">
        <div class="row nowrap gap-m">
          <span class="thumb">
            <img src={`/images/${id}/public?size=128`} alt="" width="48" height="48" loading="lazy" />
          </span>
          <div class="about">
            <a class="name clip" href={pageUrl(`/codes/${id}`)} dir="auto">
              {name}
            </a>
            <span class="row nowrap gap-none link">
              <ShortLink url={short_url} />
              <Copy text={short_url} label={`Copy short link of ${name}`} />
            </span>
            {shows('tags') && <TagLinks tags={mark?.tags ?? []} />}
          </div>
        </div>
      </td>
      {shows('destination') && (
        <td class="leads-to clip muted" title={destination_url}>
          {displayDestination(destination_url)}
        </td>
      )}
      {shows('status') && (
        <td class="status">
          <StatusBadge status={status} /> <AvailabilityBadge availability={mark?.availability} />
        </td>
      )}
      {shows('recent') && <RecentCell recent={recent} />}
      {shows('total') && (
        <td class="total number">
          {compact(total_scans)}
          <span class="unit"> {total_scans === 1 ? 'scan' : 'scans'}, all time</span>
        </td>
      )}
      {shows('created') && <td class="muted created">{date(created_at)}</td>}
    </tr>
  );
}

const RecentCell = ({ recent }: { recent: RecentScans | undefined }) => (
  <td class="recent number">
    {recent !== undefined && (
      <span class="row nowrap gap-m">
        {recent.total_scans > 0 && <Sparkline values={recent.days} isOpen />}
        <span class="spacer">
          {number(recent.total_scans)}
          <span class="unit"> in 30 days</span>
        </span>
      </span>
    )}
  </td>
);

const TagLinks = ({ tags }: { tags: string[] }) =>
  tags.length === 0 ? null : (
    <span class="row gap-xs tag-links">
      {tags.map((tag) => (
        <a key={tag} class="tag" href={urlWith({ tag, page: undefined })} aria-label={`Codes tagged ${tag}`} dir="auto">
          {tag}
        </a>
      ))}
    </span>
  );
