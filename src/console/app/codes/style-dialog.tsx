import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Skeleton } from '../parts/states.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import type { ListedQrCode, Page, QrCode } from '../types.ts';
import { maxSearchLength } from './listing.ts';

const maxListed = 20;

interface Props {
  onChoose(code: QrCode): void;
  onClose(): void;
}

/** Chooses the code whose style others get, by how it looks. */
export function StyleDialog({ onChoose, onClose }: Props) {
  const [search, setSearch] = useState('');
  const { busy, run } = useAction();
  const q = search.trim().slice(0, maxSearchLength);
  const { data, error, loading, reload } = useResource<Page<ListedQrCode>>('/qrcodes', {
    query: { q: q === '' ? undefined : q, limit: maxListed },
  });
  return (
    <Dialog title="Use the style of a code" onClose={onClose}>
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
        <ul class="grid gap-s columns-xs style-sources" aria-busy={loading} aria-label="Codes">
          {data.data.map(({ id, name }) => (
            <li key={id}>
              <button
                type="button"
                class="tile stack gap-xs"
                disabled={busy}
                onClick={() => run(async () => onChoose(await api.get<QrCode>(`/qrcodes/${id}`)))}
              >
                <img src={`/images/${id}/public?size=128`} alt="" width="80" height="80" loading="lazy" />
                <span class="clip" dir="auto">
                  {name}
                </span>
              </button>
            </li>
          ))}
          {data.data.length === 0 && <li class="hint">No code matches.</li>}
        </ul>
      )}
      {data !== undefined && data.pagination.total > data.data.length && (
        <p class="hint">Search to find more of your {data.pagination.total} codes.</p>
      )}
    </Dialog>
  );
}
