import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
}

let toasts: Toast[] = [];
let last = 0;
let show: (toasts: Toast[]) => void = () => {};

const set = (next: Toast[]) => {
  toasts = next;
  show(toasts);
};
const remove = (id: number) => set(toasts.filter((one) => one.id !== id));

/** Says for a moment what was done, or what could not be. */
export function toast(text: string, kind: Toast['kind'] = 'done'): void {
  const id = ++last;
  set([...toasts.slice(-2), { id, text, kind }]);
  setTimeout(() => remove(id), kind === 'done' ? 4_000 : 8_000);
}

export function Toasts() {
  const [shown, setShown] = useState(toasts);
  useEffect(() => {
    show = setShown;
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`}>
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
