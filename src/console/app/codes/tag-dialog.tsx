import { useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { useAction } from '../parts/use-action.ts';
import type { ListedQrCode } from '../types.ts';
import { noTagChange, type TagChange, TagChanges } from './tag-changes.tsx';

interface Props {
  codes: ListedQrCode[];
  onSave(change: TagChange): Promise<void>;
  onClose(): void;
}

/** Adds tags to several codes, and removes some that they have. */
export function TagDialog({ codes, onSave, onClose }: Props) {
  const [tags, setTags] = useState(noTagChange);
  const { busy, run } = useAction();
  return (
    <Dialog title={`Tag ${plural(codes.length, 'code')}`} onClose={onClose}>
      <Form onSubmit={() => run(() => onSave(tags))}>
        <TagChanges codes={codes} tags={tags} onTags={setTags} />
        <DialogActions onCancel={onClose}>
          <button
            type="submit"
            class="button primary"
            disabled={busy || (tags.add.length === 0 && tags.remove.length === 0)}
          >
            Save tags
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
