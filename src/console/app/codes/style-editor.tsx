import { useId, useState } from 'preact/hooks';
import { cornersDotTypes, cornersSquareTypes, dotsTypes, isColor, presets, type Style } from './style.ts';
import { Swatch } from './swatch.tsx';

interface Props {
  style: Style;
  onStyle(style: Style): void;
}

const typeLabel = (type: string) => type.replace('-', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Controls for all style fields, with presets. */
export function StyleEditor({ style, onStyle }: Props) {
  const set = (change: Partial<Style>) => onStyle({ ...style, ...change });
  const resetField = (field: keyof Style) => {
    const { [field]: _, ...rest } = style;
    onStyle(rest);
  };
  return (
    <div class="style-editor">
      <fieldset class="presets">
        <legend class="hidden">Presets</legend>
        {presets.map(([name, preset]) => (
          <button
            key={name}
            type="button"
            class="button"
            aria-pressed={JSON.stringify(preset) === JSON.stringify(style)}
            onClick={() => onStyle(preset)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <Shapes
        label="Dots"
        options={dotsTypes}
        value={style.dotsType ?? 'square'}
        draw={(dotsType) => <Swatch part="dots" style={{ dotsType }} />}
        onValue={(dotsType) => set({ dotsType })}
      />
      <Shapes
        label="Corner squares"
        options={cornersSquareTypes}
        value={style.cornersSquareType ?? 'square'}
        draw={(cornersSquareType) => (
          <Swatch part="corner" style={{ cornersDotType: style.cornersDotType ?? 'square', cornersSquareType }} />
        )}
        onValue={(cornersSquareType) => set({ cornersSquareType })}
      />
      <Shapes
        label="Corner dots"
        options={cornersDotTypes}
        value={style.cornersDotType ?? 'square'}
        draw={(cornersDotType) => (
          <Swatch part="corner" style={{ cornersSquareType: style.cornersSquareType ?? 'square', cornersDotType }} />
        )}
        onValue={(cornersDotType) => set({ cornersDotType })}
      />
      <fieldset class="colors">
        <legend>Colors</legend>
        <div>
          <Color label="Dots" value={style.dotsColor ?? '#000000'} onValue={(dotsColor) => set({ dotsColor })} />
          <Color
            label="Background"
            value={style.backgroundColor ?? '#FFFFFF'}
            onValue={(backgroundColor) => set({ backgroundColor })}
          />
          <Color
            label="Corner squares"
            value={style.cornersSquareColor}
            fallback={style.dotsColor ?? '#000000'}
            onValue={(cornersSquareColor) => set({ cornersSquareColor })}
            onReset={() => resetField('cornersSquareColor')}
          />
          <Color
            label="Corner dots"
            value={style.cornersDotColor}
            fallback={style.cornersSquareColor ?? style.dotsColor ?? '#000000'}
            onValue={(cornersDotColor) => set({ cornersDotColor })}
            onReset={() => resetField('cornersDotColor')}
          />
        </div>
      </fieldset>
    </div>
  );
}

interface ShapesProps<T extends string> {
  label: string;
  options: readonly T[];
  value: T;
  draw(option: T): preact.JSX.Element;
  onValue(value: T): void;
}

function Shapes<T extends string>({ label, options, value, draw, onValue }: ShapesProps<T>) {
  const name = useId();
  return (
    <fieldset class="shapes">
      <legend>{label}</legend>
      <div>
        {options.map((option) => (
          <label key={option}>
            <input type="radio" name={name} checked={option === value} onChange={() => onValue(option)} />
            {draw(option)}
            <span>{typeLabel(option)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface ColorProps {
  label: string;
  value: string | undefined;
  /** The color in effect while `value` is undefined. */
  fallback?: string;
  onValue(value: string): void;
  onReset?(): void;
}

function Color({ label, value, fallback = '#000000', onValue, onReset }: ColorProps) {
  const id = useId();
  const inherited = label === 'Corner dots' ? 'corner squares' : 'dots';
  const shown = value ?? fallback;
  const [text, setText] = useState<string>();
  return (
    <div class="color">
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
