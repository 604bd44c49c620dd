import { useRef, useState } from 'preact/hooks';
import type { Mark } from './marks.ts';

/** A mark, the name of its bucket, and where it is in the chart. */
export interface PlacedMark extends Mark {
  label: string;
  left: number;
  isRight: boolean;
}

/** Marks above the chart, which say what happened there. They are one stop for Tab; arrow keys move between them. */
export function ChartMarks({ marks }: { marks: PlacedMark[] }) {
  const [current, setCurrent] = useState(0);
  const [shown, setShown] = useState<PlacedMark>();
  const group = useRef<HTMLDivElement>(null);
  if (marks.length === 0) return null;
  const stop = Math.min(current, marks.length - 1);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const to = Math.max(0, Math.min(marks.length - 1, stop + step));
    group.current?.querySelectorAll('button')[to]?.focus();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div ref={group} class="marks" role="group" aria-label="Changes of the destination" onKeyDown={move}>
      {marks.map((mark, i) => {
        const show = () => {
          setCurrent(i);
          setShown(mark);
        };
        const hide = () => setShown(undefined);
        return (
          <button
            key={mark.index}
            type="button"
            class="mark"
            style={{ left: `${mark.left}px` }}
            tabIndex={i === stop ? 0 : -1}
            aria-label={`${mark.label}: ${mark.texts.join('. ')}`}
            onFocus={show}
            onBlur={hide}
            onMouseEnter={show}
            onMouseLeave={hide}
          />
        );
      })}
      {shown !== undefined && (
        <div
          class={`point stack gap-xs ${shown.isRight ? 'left-of' : ''}`}
          style={{ left: `${shown.left}px` }}
          aria-hidden="true"
        >
          <span>{shown.label}</span>
          {shown.texts.map((text) => (
            <strong key={text} class="wrapped">
              {text}
            </strong>
          ))}
        </div>
      )}
    </div>
  );
}
