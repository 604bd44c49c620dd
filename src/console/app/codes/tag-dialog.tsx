import { useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { Toggles } from '../parts/choices.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import { useAction } from '../parts/use-action.ts';
import type { ListedQrCode } from '../types.ts';
import { useMarks } from './marks.ts';

interface Props {
  codes: ListedQrCode[];
  onSave(change: { add: string[]; remove: string[] }): Promise<void>;
  onClose(): void;
}

/** Adds tags to several codes, and removes some that they have. */
export function TagDialog({ codes, onSave, onClose }: Props) {
  const [add, setAdd] = useState<string[]>([]);
  const [remove, setRemove] = useState<string[]>([]);
  const { busy, run } = useAction();
  const { marks } = useMarks(codes.slice(0, 100));
  const present = [...new Set([...marks.values()].flatMap(({ tags }) => tags))].sort();
  return (
    <Dialog title={`Tag ${plural(codes.length, 'code')}`} onClose={onClose}>
      <Form onSubmit={() => run(() => onSave({ add, remove }))}>
        <TagsField label="Tags to add" tags={add} onTags={setAdd} hint="Press Enter after each tag." />
        {present.length > 0 && (
          <div class="stack gap-xs field">
            <span class="label" aria-hidden="true">
              Tags to remove
            </span>
            <Toggles
              label="Tags to remove"
              choices={present.map((tag) => [tag, tag])}
              values={remove}
              onValues={setRemove}
            />
          </div>
        )}
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || (add.length === 0 && remove.length === 0)}>
            Save tags
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
