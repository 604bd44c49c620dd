import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Failure, Skeleton } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import type { ListedQrCode, Page } from '../types.ts';
import { maxSearchLength } from './listing.ts';

interface Props {
  /** How many codes are listed at most. */
  limit: number;
  /** Their order while nothing is searched for. */
  sort?: '-total_scans' | undefined;
  /** Of the list. */
  class: string;
  /** The item of a code. */
  children(code: ListedQrCode): ComponentChildren;
}

/** A search for codes and the list of those that it finds. */
export function CodeSearch({ limit, sort, class: className, children: itemOf }: Props) {
  const [search, setSearch] = useState('');
  const words = search.trim().slice(0, maxSearchLength);
  const { data, error, loading, reload } = useResource<Page<ListedQrCode>>('/qrcodes', {
    query: words === '' ? { sort, limit } : { q: words, limit },
  });
  return (
    <>
      <search class="input">
        <input
          type="search"
          value={search}
          placeholder="Name, destination or short link"
          aria-label="Search codes"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </search>
      {error !== undefined ? (
        <Failure error={error} retry={reload} />
      ) : data === undefined ? (
        <Skeleton lines={4} />
      ) : (
        <ul class={className} aria-busy={loading} aria-label="Codes">
          {data.data.map((code) => (
            <li key={code.id}>{itemOf(code)}</li>
          ))}
          {data.data.length === 0 && <li class="hint">No code matches.</li>}
        </ul>
      )}
      {data !== undefined && data.pagination.total > data.data.length && (
        <p class="hint">Search to find more of your {data.pagination.total} codes.</p>
      )}
    </>
  );
}
