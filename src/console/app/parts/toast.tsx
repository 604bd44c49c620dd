import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
}

let toasts: Toast[] = [];
let lastId = 0;
let render: (toasts: Toast[]) => void = () => {};

const update = (next: Toast[]) => {
  toasts = next;
  render(toasts);
};
const remove = (id: number) => update(toasts.filter((toast) => toast.id !== id));

/** Shows a message for 4 s, or 8 s when it reports a failure. */
export function toast(text: string, kind: Toast['kind'] = 'done'): void {
  const id = ++lastId;
  update([...toasts.slice(-2), { id, text, kind }]);
  setTimeout(() => remove(id), kind === 'done' ? 4_000 : 8_000);
}

export function Toasts() {
  const [shown, setShown] = useState(toasts);
  useEffect(() => {
    render = setShown;
  }, []);
  return (
    <div class="stack toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, kind }) => (
        <div key={id} class={`row nowrap toast ${kind}`}>
          <Icon name={kind === 'done' ? 'check' : 'warning'} />
          <span>{text}</span>
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => remove(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
