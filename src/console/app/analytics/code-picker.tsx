import { useState } from 'preact/hooks';
import { CodeSearch } from '../codes/code-search.tsx';
import { plural } from '../format.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { navigate, urlWith } from '../router.ts';

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

/** As many as the API lists at once. */
const maxListed = 100;

/** A search for codes, and a list to tick them. */
export function CodeChoices({ chosen, onChosen }: ChoicesProps) {
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChosen(next);
  };
  return (
    <CodeSearch limit={maxListed} sort="-total_scans" class="choices">
      {({ id, name }) => (
        <label class="row nowrap">
          <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} />
          <span class="clip" dir="auto">
            {name}
          </span>
        </label>
      )}
    </CodeSearch>
  );
}
