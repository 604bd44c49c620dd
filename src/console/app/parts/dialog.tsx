import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface Props {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** A modal dialog. Escape, the close button and a click outside close it. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog
      ref={element}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** The buttons at the end of a dialog: Cancel, and the confirming button as `children`. */
export const DialogActions = ({ onCancel, children }: { onCancel(): void; children: ComponentChildren }) => (
  <div class="actions">
    <button type="button" class="button" onClick={onCancel}>
      Cancel
    </button>
    {children}
  </div>
);
