import { percent } from '../format.ts';
import { changeText } from './comparison.ts';

/** An arrow and a percentage; screen readers get the sentence. */
export function Change({ now, previous, before }: { now: number; previous: number; before: string }) {
  if (now === 0 && previous === 0) return null;
  const text = changeText(now, previous, before);
  const kind = now === previous ? 'same' : now > previous ? 'up' : 'down';
  const arrow = { same: '=', up: '▲', down: '▼' }[kind];
  const amount = kind === 'same' ? '' : previous === 0 ? 'new' : percent(Math.abs(now / previous - 1));
  return (
    <span class={`change-of ${kind}`} title={text}>
      <span aria-hidden="true">
        {arrow} {amount}
      </span>
      <span class="hidden">{text}</span>
    </span>
  );
}
