import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { number, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { setQuery, urlWith } from '../router.ts';
import type { Page } from '../types.ts';
import { pageNumbers } from './page-numbers.ts';
import { Empty } from './states.tsx';

interface Props {
  /** Such as "codes". */
  what: string;
  pagination: Page<unknown>['pagination'];
  /** The first is the default. */
  sizes: readonly number[];
  loading: boolean;
  children: ComponentChildren;
}

const pageText = (page: number) => (page === 1 ? undefined : String(page));

/** One page of a list, with links to the others. A change of page shows and focuses the top of the list. */
export function Paged({ what, pagination, sizes, loading, children }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const isTurning = useRef(false);
  const { page, total, total_pages } = pagination;
  useLayoutEffect(() => {
    if (!isTurning.current) return;
    isTurning.current = false;
    list.current?.focus({ preventScroll: true });
    list.current?.scrollIntoView({ block: 'start' });
  }, [page]);
  const turnTo = (next: number) => {
    isTurning.current = true;
    setQuery({ page: pageText(next) });
  };
  const position = total_pages > 1 ? `, page ${number(page)} of ${number(total_pages)}` : '';
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div
      ref={list}
      class="paged"
      role="group"
      aria-label={`List of ${what}${position}`}
      aria-busy={loading}
      tabIndex={-1}
    >
      {total > 0 && page > total_pages ? <PastEnd pagination={pagination} onPage={turnTo} /> : children}
      <Pager what={what} pagination={pagination} sizes={sizes} onPage={turnTo} />
    </div>
  );
}

type Turn = { onPage(page: number): void };

const PastEnd = ({ pagination: { page, total, total_pages }, onPage }: Pick<Props, 'pagination'> & Turn) => (
  <Empty title={`Page ${number(page)} is past the end`}>
    <p>
      The list has {plural(total, 'entry', 'entries')} on {plural(total_pages, 'page')}.
    </p>
    <PageLink page={total_pages} onPage={onPage}>
      Go to the last page
    </PageLink>
  </Empty>
);

function Pager({ what, pagination, sizes, onPage }: Pick<Props, 'what' | 'pagination' | 'sizes'> & Turn) {
  const { page, limit, total, total_pages } = pagination;
  // Nothing to turn, and no smaller size to choose.
  if (total === 0 || page > total_pages || total <= Math.min(...sizes)) return null;
  return (
    <nav class="row pager" aria-label={`Pages of ${what}`}>
      <span>
        {number((page - 1) * limit + 1)}–{number(Math.min(page * limit, total))} of {number(total)}
      </span>
      <label class="row">
        Per page
        <select
          value={limit}
          onChange={(event) => setQuery({ limit: sizeText(event.currentTarget.value, sizes), page: undefined })}
        >
          {sizes.map((size) => (
            <option key={size} value={size}>
              {size}
            </option>
          ))}
        </select>
      </label>
      {total_pages > 1 && (
        <ul class="row gap-xs">
          <li>
            <PageLink page={page - 1} isDisabled={page <= 1} onPage={onPage} label="Previous page">
              <Icon name="back" />
            </PageLink>
          </li>
          {pageNumbers(page, total_pages).map((option, i) => (
            <li key={option ?? `gap ${i}`}>
              {option === undefined ? (
                <span class="gap">…</span>
              ) : (
                <PageLink page={option} isCurrent={option === page} onPage={onPage} label={`Page ${option}`}>
                  {number(option)}
                </PageLink>
              )}
            </li>
          ))}
          <li>
            <PageLink page={page + 1} isDisabled={page >= total_pages} onPage={onPage} label="Next page">
              <span>Next</span>
              <Icon name="next" />
            </PageLink>
          </li>
        </ul>
      )}
    </nav>
  );
}

const sizeText = (size: string, sizes: readonly number[]) => (size === String(sizes[0]) ? undefined : size);

interface LinkProps extends Turn {
  page: number;
  label?: string;
  isCurrent?: boolean;
  isDisabled?: boolean;
  children: ComponentChildren;
}

/** A link, so that it can be opened in another tab; a plain click stays on the page. */
function PageLink({ page, label, isCurrent, isDisabled = false, onPage, children }: LinkProps) {
  if (isDisabled)
    return (
      <button type="button" class="button" disabled aria-label={label}>
        {children}
      </button>
    );
  return (
    <a
      class="button"
      href={urlWith({ page: pageText(page) })}
      aria-label={label}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onPage(page);
      }}
    >
      {children}
    </a>
  );
}
