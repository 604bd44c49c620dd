import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { Toasts } from './toast.tsx';

type Props = {
  title: string;
  children: ComponentChildren;
} & (
  | { onClose(): void; staysOpen?: false }
  /** Only a button in `children` closes it: for what is shown once, or cannot be skipped. */
  | { onClose?: undefined; staysOpen: true }
);

const fields = 'input:not([type=hidden], [type=radio]:not(:checked)), select, textarea';

/** A modal dialog. It focuses its first field, and gives the focus back when it closes. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const pressedOn = useRef<EventTarget | null>(null);
  const heading = useId();
  // Before a frame is drawn: a key that is pressed right after the one that opened the dialog belongs to its first field.
  useLayoutEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog?.showModal();
    const giveFocusBack = () => {
      // What was done in the dialog may have removed its opener.
      const target = opener?.isConnected ? opener : document.querySelector('h1');
      if (target instanceof HTMLElement) target.focus();
    };
    return () => {
      dialog?.close();
      giveFocusBack();
      // A focus that did not take while the dialog was still in the page is repeated when it is out of it.
      queueMicrotask(() => {
        if (document.activeElement === document.body) giveFocusBack();
      });
    };
  }, []);
  // A dialog that goes on to its next step has another title.
  useLayoutEffect(() => {
    const find = (selector: string) => element.current?.querySelector<HTMLElement>(selector);
    (find(fields) ?? find('.actions .button'))?.focus();
  }, [title]);
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      onKeyDown={(event) => {
        // Browsers let the second Escape in a row close a dialog whatever `cancel` does.
        if (event.key === 'Escape' && onClose === undefined) event.preventDefault();
      }}
      onCancel={(event) => {
        // A file input inside fires it as well.
        if (event.target !== element.current) return;
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => {
        // The back gesture of a phone closes it without asking.
        if (element.current?.isConnected && onClose === undefined) element.current.showModal();
      }}
      onMouseDown={(event) => {
        pressedOn.current = event.target;
      }}
      onClick={(event) => {
        // Not when text was selected from inside to outside.
        if (event.target === element.current && pressedOn.current === element.current) onClose?.();
      }}
    >
      <div class="stack dialog-body">
        {/* Not a header, which would be the banner of the page. */}
        <div class="row between nowrap gap-l start">
          <h2 id={heading}>{title}</h2>
          {onClose !== undefined && (
            <button type="button" class="plain" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </div>
        {children}
      </div>
      <Toasts />
    </dialog>
  );
}

/** The buttons at the end of a dialog: Cancel, and the confirming button as `children`. */
export const DialogActions = ({ onCancel, children }: { onCancel(): void; children: ComponentChildren }) => (
  <div class="row actions">
    <button type="button" class="button" onClick={onCancel}>
      Cancel
    </button>
    {children}
  </div>
);
