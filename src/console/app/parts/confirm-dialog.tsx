import type { ComponentChildren } from 'preact';
import { Dialog, DialogActions } from './dialog.tsx';
import { useAction } from './use-action.ts';

interface Props {
  title: string;
  /** What the confirming button says. */
  label: string;
  isDangerous?: boolean;
  /** What the action does. */
  children: ComponentChildren;
  /** The action; the dialog stays open if it fails. */
  onConfirm(): Promise<void>;
  onClose(): void;
}

/** A dialog that explains an action before the user takes it. */
export function ConfirmDialog({ title, label, isDangerous = false, children, onConfirm, onClose }: Props) {
  const { busy, run } = useAction();
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <DialogActions onCancel={onClose}>
        <button
          type="button"
          class={isDangerous ? 'button danger solid' : 'button primary'}
          disabled={busy}
          onClick={() => run(onConfirm)}
        >
          {label}
        </button>
      </DialogActions>
    </Dialog>
  );
}
