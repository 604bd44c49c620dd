import { useId, useMemo } from 'preact/hooks';
import { defaultSizePx } from '../../../qr/layout.ts';
import { transparent } from '../../../qr/style.ts';
import { drawSvg } from '../../../qr/svg.ts';
import { Color } from './color-field.tsx';
import { GradientEditor, SymbolEditor } from './print-editor.tsx';
import { cornersDotTypes, cornersSquareTypes, dotsTypes, presets, type Style, withField } from './style.ts';
import { Swatch } from './swatch.tsx';

interface Props {
  style: Style;
  onStyle(style: Style): void;
}

const typeLabel = (type: string) => type.replace('-', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Presets of shapes and colors, each drawn as the code at `url` would look. */
export function StylePresets({ style, onStyle, url }: Props & { url: string }) {
  const images = useMemo(() => presets.map(([, preset]) => drawSvg(url, preset, defaultSizePx)), [url]);
  return (
    <fieldset>
      <legend>Style</legend>
      <div class="grid gap-s columns-xs">
        {presets.map(([name, preset], i) => (
          <label key={name} class="option tile stack gap-xs shape">
            <input
              type="radio"
              name="preset"
              checked={isPreset(preset, style)}
              onChange={() => onStyle({ ...preset, ...partsOf(style) })}
            />
            <img src={`data:image/svg+xml,${encodeURIComponent(images[i] ?? '')}`} alt="" width="72" height="72" />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The controls of shapes, colors and print that presets and the most common choices leave out. */
export function StyleDetails({ style, onStyle }: Props) {
  const set = (change: Partial<Style>) => onStyle({ ...style, ...change });
  const setOrReset = <F extends keyof Style>(field: F, value: Style[F] | undefined) =>
    onStyle(withField(style, field, value));
  const resetField = (field: keyof Style) => setOrReset(field, undefined);
  const isTransparent = style.backgroundColor === transparent;
  const shownBackground = isTransparent ? '#FFFFFF' : (style.backgroundColor ?? '#FFFFFF');
  return (
    <>
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
      <fieldset class="stack gap-s">
        <legend>Colors</legend>
        <div class="grid gap-m columns-s">
          <Color label="Dots" value={style.dotsColor ?? '#000000'} onValue={(dotsColor) => set({ dotsColor })} />
          <Color label="Background" value={shownBackground} onValue={(backgroundColor) => set({ backgroundColor })} />
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
        <label class="row nowrap check">
          <input
            type="checkbox"
            checked={isTransparent}
            onChange={(event) => setOrReset('backgroundColor', event.currentTarget.checked ? transparent : undefined)}
          />
          <span>Transparent background</span>
        </label>
      </fieldset>
      <GradientEditor
        label="Dots gradient"
        gradient={style.dotsGradient}
        colors={[style.dotsColor ?? '#000000', '#7A1F4B']}
        onGradient={(gradient) => setOrReset('dotsGradient', gradient)}
      />
      <GradientEditor
        label="Background gradient"
        gradient={style.backgroundGradient}
        colors={[shownBackground, '#FFE7C7']}
        onGradient={(gradient) => setOrReset('backgroundGradient', gradient)}
      />
      <SymbolEditor style={style} onStyle={onStyle} />
    </>
  );
}

/** What a preset leaves as it is: it is chosen for its shapes and colors. */
const partsOf = ({ logo, frame, quietZone, errorCorrection }: Style): Style => ({
  ...(logo === undefined ? {} : { logo }),
  ...(frame === undefined ? {} : { frame }),
  ...(quietZone === undefined ? {} : { quietZone }),
  ...(errorCorrection === undefined ? {} : { errorCorrection }),
});

const isPreset = (preset: Style, style: Style) => JSON.stringify(preset) === JSON.stringify(withoutParts(style));

/** Whether a preset has the style's shapes and colors, so that the controls of each need not be seen. */
export const hasPreset = (style: Style) => presets.some(([, preset]) => isPreset(preset, style));

const withoutParts = ({ logo: _, frame: __, quietZone: ___, errorCorrection: ____, ...style }: Style) => style;

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
    <fieldset class="stack gap-s">
      <legend>{label}</legend>
      <div class="grid gap-s columns-xs">
        {options.map((option) => (
          <label key={option} class="option tile stack gap-xs shape">
            <input type="radio" name={name} checked={option === value} onChange={() => onValue(option)} />
            {draw(option)}
            <span>{typeLabel(option)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
