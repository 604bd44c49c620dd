import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** A country or a city on the map. Its link filters the page. */
export interface MapPlace {
  key: string;
  href: string;
  text: string;
  class: string;
  drawing: ComponentChildren;
}

interface Props {
  label: string;
  /** With most scans first. */
  places: MapPlace[];
  onFocused(key: string | undefined): void;
  onHovered(key: string | undefined): void;
}

/** Links of a map that are one stop for Tab. The other keys move from the place with most scans to that with fewest. */
export function MapLinks({ label, places, onFocused, onHovered }: Props) {
  const group = useRef<SVGGElement>(null);
  const [current, setCurrent] = useState(0);
  const stop = Math.min(current, places.length - 1);
  const move = (event: KeyboardEvent) => {
    const to = targetOf(event.key, stop, places.length);
    if (to === undefined) return;
    event.preventDefault();
    group.current?.querySelectorAll('a')[to]?.focus();
  };
  if (places.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/noInteractiveElementToNoninteractiveRole: a drawing cannot be a fieldset
    <g ref={group} role="group" aria-label={label} onKeyDown={move}>
      {places.map(({ key, href, text, class: className, drawing }, index) => (
        <a
          key={key}
          href={href}
          // In SVG the case of the name matters: `tabIndex` would have no effect.
          tabindex={index === stop ? 0 : -1}
          aria-label={text}
          class={className}
          onFocus={() => {
            setCurrent(index);
            onFocused(key);
          }}
          onBlur={() => onFocused(undefined)}
          onMouseEnter={() => onHovered(key)}
        >
          {drawing}
        </a>
      ))}
    </g>
  );
}

/** The place that a key moves to. */
function targetOf(key: string, current: number, count: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowRight: Math.min(current + 1, count - 1),
    ArrowDown: Math.min(current + 1, count - 1),
    ArrowLeft: Math.max(current - 1, 0),
    ArrowUp: Math.max(current - 1, 0),
    Home: 0,
    End: count - 1,
  };
  return steps[key];
}
