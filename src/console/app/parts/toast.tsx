import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
  undo: (() => void) | undefined;
}

let toasts: Toast[] = [];
let lastId = 0;
/** Where toasts can be shown, the page first. Outside a modal dialog nothing can be used or read, so the last one shows them. */
let places: ((toasts: Toast[]) => void)[] = [];

const render = () => {
  for (const place of places) place(place === places.at(-1) ? toasts : []);
};
const update = (next: Toast[]) => {
  toasts = next;
  render();
};
const remove = (id: number) => update(toasts.filter((toast) => toast.id !== id));

/** Not while a toast has the focus: a button that someone is about to press must not go away. */
function expire(id: number): void {
  if (document.querySelector('.toasts:focus-within') === null) remove(id);
  else setTimeout(() => expire(id), 4_000);
}

/** Shows a message for 4 s, or 8 s when it reports a failure or can be undone. */
export function toast(text: string, kind: Toast['kind'] = 'done', undo?: () => void): void {
  const id = ++lastId;
  update([...toasts.slice(-2), { id, text, kind, undo }]);
  setTimeout(() => expire(id), kind === 'done' && undo === undefined ? 4_000 : 8_000);
}

/** The toasts, if this is in the dialog on top, or in the page while no dialog is open. */
export function Toasts() {
  const [shown, setShown] = useState<Toast[]>([]);
  useLayoutEffect(() => {
    places.push(setShown);
    render();
    return () => {
      places = places.filter((place) => place !== setShown);
      render();
    };
  }, []);
  /** What had the focus before a toast had it. */
  const cameFrom = useRef<EventTarget | null>(null);
  const close = (id: number) => {
    const before = cameFrom.current;
    const target = before instanceof HTMLElement && before.isConnected ? before : document.querySelector('h1');
    target?.focus({ preventScroll: true });
    remove(id);
  };
  return (
    <div
      class="stack toasts"
      role="status"
      aria-live="polite"
      onFocusIn={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) cameFrom.current = relatedTarget;
      }}
    >
      {shown.map(({ id, text, kind, undo }) => (
        <div key={id} class={`row nowrap toast ${kind}`}>
          <Icon name={kind === 'done' ? 'check' : 'warning'} />
          <span>{text}</span>
          {undo !== undefined && (
            <button
              type="button"
              class="textual"
              onClick={() => {
                close(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => close(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
