import { useId, useState } from 'preact/hooks';
import { isColor } from './style.ts';

interface ColorProps {
  label: string;
  value: string | undefined;
  /** The color in effect while `value` is undefined. */
  fallback?: string;
  onValue(value: string): void;
  onReset?(): void;
}

/** A color as a swatch and as text. */
export function Color({ label, value, fallback = '#000000', onValue, onReset }: ColorProps) {
  const id = useId();
  const inherited = label === 'Corner dots' ? 'corner squares' : 'dots';
  const shown = value ?? fallback;
  const [text, setText] = useState<string>();
  return (
    <div class="stack gap-xs color">
      <label for={id}>
        {label}
        <span class="hidden"> color</span>
      </label>
      <div class="input">
        <input
          type="color"
          aria-label={`Pick ${label.toLowerCase()} color`}
          value={shown.toLowerCase()}
          onInput={(event) => onValue(event.currentTarget.value.toUpperCase())}
        />
        <input
          id={id}
          value={text ?? shown}
          spellcheck={false}
          maxLength={7}
          aria-invalid={text !== undefined && !isColor(text)}
          onInput={(event) => {
            setText(event.currentTarget.value);
            if (isColor(event.currentTarget.value)) onValue(event.currentTarget.value.toUpperCase());
          }}
          onBlur={() => setText(undefined)}
        />
      </div>
      {onReset !== undefined &&
        (value === undefined ? (
          <span class="hint">Same as {inherited}</span>
        ) : (
          <button type="button" class="textual" onClick={onReset}>
            Use color of {inherited}
          </button>
        ))}
    </div>
  );
}
