import { useLayoutEffect, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
  undo: (() => void) | undefined;
}

let toasts: Toast[] = [];
let lastId = 0;
let render: (toasts: Toast[]) => void = () => {};

const update = (next: Toast[]) => {
  toasts = next;
  render(toasts);
};
const remove = (id: number) => update(toasts.filter((toast) => toast.id !== id));

/** Shows a message for 4 s, or 8 s when it reports a failure or can be undone. */
export function toast(text: string, kind: Toast['kind'] = 'done', undo?: () => void): void {
  const id = ++lastId;
  update([...toasts.slice(-2), { id, text, kind, undo }]);
  setTimeout(() => remove(id), kind === 'done' && undo === undefined ? 4_000 : 8_000);
}

export function Toasts() {
  const [shown, setShown] = useState(toasts);
  useLayoutEffect(() => {
    render = setShown;
  }, []);
  return (
    <div class="stack toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, kind, undo }) => (
        <div key={id} class={`row nowrap toast ${kind}`}>
          <Icon name={kind === 'done' ? 'check' : 'warning'} />
          <span>{text}</span>
          {undo !== undefined && (
            <button
              type="button"
              class="textual"
              onClick={() => {
                remove(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => remove(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
