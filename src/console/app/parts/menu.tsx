import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props {
  /** What the button is called, where its content does not say it. */
  label: string;
  buttonClass: string;
  button: ComponentChildren;
  /** Links and buttons; a form with fields stays open while they are changed. */
  children: ComponentChildren;
}

/** Not part of a form: one that is no longer in the page is not submitted. */
const isItem = (target: EventTarget | null) => !(target as Element).closest('form');

/**
 * A button that shows a list of links, buttons or checkboxes below it. The arrow keys move between them. Escape, a click elsewhere and
 * moving the focus elsewhere close it.
 */
export function Menu({ label, buttonClass, button, children }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const closeOutside = ({ target }: PointerEvent) => {
      if (!root.current?.contains(target as Node)) setIsOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    return () => document.removeEventListener('pointerdown', closeOutside);
  }, [isOpen]);
  const close = () => {
    opener.current?.focus();
    setIsOpen(false);
  };
  const move = (step: 1 | -1) => {
    const items = [...(root.current?.querySelectorAll<HTMLElement>('a, button, input') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only handles keys of the buttons and links inside
    <div
      class="menu"
      ref={root}
      onKeyDown={(event) => {
        if (!isOpen) return;
        if (event.key === 'Escape') close();
        else if (event.key === 'ArrowDown') move(1);
        else if (event.key === 'ArrowUp') move(-1);
        else return;
        event.preventDefault();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget !== null && !root.current?.contains(relatedTarget as Node)) setIsOpen(false);
      }}
    >
      <button
        type="button"
        ref={opener}
        class={buttonClass}
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: a click on any item closes it
        <div
          class="card stack gap-none menu-items"
          // The focus goes back before the item opens a dialog, which returns it there when it closes.
          onClickCapture={({ target }) => {
            if (isItem(target)) opener.current?.focus();
          }}
          onClick={({ target }) => {
            if (isItem(target)) setIsOpen(false);
          }}
        >
          {children}
        </div>
      )}
    </div>
  );
}
