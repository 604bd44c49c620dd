import { useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Failure, Skeleton } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { navigate, urlWith } from '../router.ts';
import type { ListedQrCode, Page } from '../types.ts';

/** A button that says which codes are shown, and a dialog to select them. */
export function CodePicker({ selected }: { selected: string[] }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" class="button" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        {selected.length === 0 ? 'All codes' : plural(selected.length, 'code')}
        <span aria-hidden="true">▾</span>
      </button>
      {isOpen && <CodesDialog selected={selected} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function CodesDialog({ selected, onClose }: { selected: string[]; onClose(): void }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(selected));
  const show = (codes: Iterable<string>) => {
    navigate(urlWith({ codes: [...codes].join(','), page: undefined }));
    onClose();
  };
  return (
    <Dialog title="Choose codes" onClose={onClose}>
      <Form onSubmit={() => show(chosen)}>
        <CodeChoices chosen={chosen} onChosen={setChosen} />
        <DialogActions onCancel={onClose}>
          <button type="button" class="button" disabled={selected.length === 0} onClick={() => show([])}>
            All codes
          </button>
          <button type="submit" class="button primary" disabled={chosen.size === 0 || chosen.size > 100}>
            Show {plural(chosen.size, 'code')}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

interface ChoicesProps {
  chosen: ReadonlySet<string>;
  onChosen(codes: ReadonlySet<string>): void;
}

/** A search for codes, and a list to tick them. */
export function CodeChoices({ chosen, onChosen }: ChoicesProps) {
  const [search, setSearch] = useState('');
  const words = search.trim().slice(0, 255);
  const { data, error, loading, reload } = useResource<Page<ListedQrCode>>('/qrcodes', {
    query: { q: words === '' ? undefined : words, sort: words === '' ? '-total_scans' : undefined, limit: 100 },
  });
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChosen(next);
  };
  return (
    <>
      <search class="input">
        <input
          type="search"
          value={search}
          placeholder="Name, destination or short code"
          aria-label="Search codes"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </search>
      {error !== undefined ? (
        <Failure error={error} retry={reload} />
      ) : data === undefined ? (
        <Skeleton lines={4} />
      ) : (
        <ul class="choices" aria-busy={loading} aria-label="Codes">
          {data.data.map(({ id, name }) => (
            <li key={id}>
              <label class="row nowrap">
                <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} />
                <span class="clip">{name}</span>
              </label>
            </li>
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
