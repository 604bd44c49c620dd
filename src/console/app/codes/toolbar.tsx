import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { Segments } from '../parts/segments.tsx';
import { replaceQuery, setQuery, useRoute } from '../router.ts';
import { searchFieldId } from '../shortcuts.ts';
import { DisplayMenu } from './display-menu.tsx';
import { DomainSelect, useDomains } from './domain-select.tsx';
import { defaultSort, maxSearchLength, sortOf, sortOptions, statuses, statusOf } from './listing.ts';
import { TagFilter } from './tag-filter.tsx';
import { ViewsMenu } from './views-menu.tsx';

/** Search, filters, order and display of the list. */
export function Toolbar() {
  const { query } = useRoute();
  const domains = useDomains();
  const inUrl = query.get('q') ?? '';
  const [search, setSearch] = useState(inUrl);
  const lastSent = useRef(inUrl);
  // Back and links change the search as well.
  useLayoutEffect(() => {
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
          id={searchFieldId}
          type="search"
          value={search}
          placeholder="Name, destination, note, short link or ID"
          aria-label="Search codes"
          aria-keyshortcuts="/"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </search>
      <Segments
        label="Status"
        options={statuses}
        value={statusOf(query) ?? ''}
        onValue={(status) => setQuery({ status, page: undefined })}
      />
      <TagFilter value={query.get('tag') || undefined} />
      <DomainSelect
        label="Domain"
        none="All domains"
        domains={domains}
        value={query.get('domain') ?? ''}
        onValue={(domain) => setQuery({ domain, page: undefined })}
      />
      <select
        aria-label="Sort by"
        value={sortOf(query)}
        onChange={({ currentTarget: { value } }) =>
          setQuery({ sort: value === defaultSort ? undefined : value, page: undefined })
        }
      >
        {sortOptions.map(([sort, text]) => (
          <option key={sort} value={sort}>
            {text}
          </option>
        ))}
      </select>
      <ViewsMenu />
      <DisplayMenu />
    </div>
  );
}
