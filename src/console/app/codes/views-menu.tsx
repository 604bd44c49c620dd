import { useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Menu } from '../parts/menu.tsx';
import { toast } from '../parts/toast.tsx';
import { useRoute } from '../router.ts';
import { display } from './display.ts';
import { currentView, deleteView, maxViewNameLength, maxViews, openView, saveView, viewOf, views } from './views.ts';

/** The saved views of the list: opens, saves and deletes them. */
export function ViewsMenu() {
  const { query } = useRoute();
  const all = views.use();
  const shown = display.use();
  const current = currentView(all, query, shown);
  const [isSaving, setIsSaving] = useState(false);
  return (
    <>
      <Menu
        label={current === undefined ? 'Views' : `View: ${current.name}`}
        buttonClass="button"
        button={
          <>
            <span class="clip view-name">{current?.name ?? 'Views'}</span>
            <span aria-hidden="true">▾</span>
          </>
        }
      >
        {all.map((view) => (
          <button
            key={view.name}
            type="button"
            class="button"
            aria-current={view === current ? 'true' : undefined}
            onClick={() => openView(view)}
          >
            <span class="clip" dir="auto">
              {view.name}
            </span>
            {view === current && <Icon name="check" />}
          </button>
        ))}
        {all.length > 0 && <hr />}
        {current === undefined ? (
          <button type="button" class="button" onClick={() => setIsSaving(true)}>
            <Icon name="plus" />
            Save this view
          </button>
        ) : (
          <button type="button" class="button danger" onClick={() => remove(current.name)}>
            <Icon name="trash" />
            <span class="clip">Delete view “{current.name}”</span>
          </button>
        )}
      </Menu>
      {isSaving && (
        <SaveDialog
          onClose={() => setIsSaving(false)}
          onSave={(name) => {
            saveView(viewOf(name, query, shown));
            setIsSaving(false);
            toast(`View “${name}” saved in this browser.`);
          }}
        />
      )}
    </>
  );
}

function remove(name: string): void {
  const before = views.read();
  deleteView(name);
  toast(`View “${name}” deleted.`, 'done', () => views.write(before));
}

function SaveDialog({ onSave, onClose }: { onSave(name: string): void; onClose(): void }) {
  const [name, setName] = useState('');
  const [error, setError] = useState<string>();
  const all = views.read();
  const trimmed = name.trim();
  const isReplaced = all.some((view) => view.name === trimmed);
  const save = () => {
    if (trimmed === '') setError('Give the view a name.');
    else if (all.length >= maxViews && !isReplaced)
      setError(`This browser keeps ${maxViews} views. Delete one, or replace it by its name.`);
    else onSave(trimmed);
  };
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <Form onSubmit={save}>
        <Field
          label="Name"
          value={name}
          onValue={setName}
          maxLength={maxViewNameLength}
          error={error}
          hint={
            isReplaced
              ? 'Replaces the view of this name.'
              : 'Search, filters, order, columns and density of the list, in this browser.'
          }
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary">
            Save view
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
