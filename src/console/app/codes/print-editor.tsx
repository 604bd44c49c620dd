import {
  defaultFrameText,
  defaultQuietZone,
  type FrameType,
  maxFrameTextLength,
  maxQuietZone,
} from '../../../../events/style-shapes.ts';
import { Field } from '../parts/field.tsx';
import { Segments } from '../parts/segments.tsx';
import { Color } from './color-field.tsx';
import { inModules, Slider } from './crop-dialog.tsx';
import { frameTextError, useFrameFont } from './frame-font.ts';
import { errorCorrectionLevels, frameTypes, type Style } from './style.ts';

type FrameStyle = NonNullable<Style['frame']>;
type Gradient = NonNullable<Style['dotsGradient']>;

interface FrameProps {
  frame: FrameStyle | undefined;
  fallbackColor: string;
  onFrame(frame: FrameStyle | undefined): void;
}

const frameLabels: Record<FrameType, string> = {
  none: 'None',
  box: 'Box',
  'label-top': 'Label above',
  'label-bottom': 'Label below',
  bubble: 'Bubble',
};

export function FrameEditor({ frame, fallbackColor, onFrame }: FrameProps) {
  const type = frame?.type ?? 'none';
  const textError = frameTextError(frame, useFrameFont(frame));
  const set = (change: Partial<FrameStyle>) => onFrame({ ...frame, type, ...change });
  const setText = (text: string) => {
    const { text: _, ...rest } = frame ?? { type };
    onFrame(text === '' ? rest : { ...rest, text });
  };
  return (
    <fieldset class="stack gap-m">
      <legend>Frame</legend>
      <Segments
        label="Frame"
        options={frameTypes.map((option) => [option, frameLabels[option]] as const)}
        value={type}
        onValue={(next) => (next === 'none' ? onFrame(undefined) : set({ type: next }))}
      />
      {frame !== undefined && (
        <>
          <Field
            label="Frame text"
            value={frame.text ?? ''}
            onValue={setText}
            placeholder={type === 'box' ? 'No text' : defaultFrameText}
            maxLength={maxFrameTextLength}
            error={textError}
            hint="Latin, Greek or Cyrillic letters."
          />
          <div class="grid gap-m columns-s">
            <Color label="Frame" value={frame.color ?? fallbackColor} onValue={(color) => set({ color })} />
            <Color
              label="Text"
              value={frame.textColor ?? (type === 'box' ? fallbackColor : '#FFFFFF')}
              onValue={(textColor) => set({ textColor })}
            />
          </div>
        </>
      )}
    </fieldset>
  );
}

interface GradientProps {
  label: string;
  gradient: Gradient | undefined;
  /** The first colors of a new gradient. */
  colors: readonly [string, string];
  onGradient(gradient: Gradient | undefined): void;
}

const kinds = [
  ['none', 'One color'],
  ['linear', 'Linear'],
  ['radial', 'Radial'],
] as const;
const degreesOf = (radians = 0) => Math.round((radians * 180) / Math.PI);

/** A gradient of two colors; further colors of a copied one stay while only its direction changes. */
export function GradientEditor({ label, gradient, colors, onGradient }: GradientProps) {
  const stops = gradient?.colorStops ?? [
    { offset: 0, color: colors[0] },
    { offset: 1, color: colors[1] },
  ];
  const setColor = (index: number, color: string) =>
    gradient &&
    onGradient({ ...gradient, colorStops: stops.map((stop, i) => (i === index ? { ...stop, color } : stop)) });
  const last = stops.length - 1;
  return (
    <fieldset class="stack gap-m">
      <legend>{label}</legend>
      <Segments
        label={label}
        options={kinds}
        value={gradient?.type ?? 'none'}
        onValue={(type) => onGradient(type === 'none' ? undefined : { ...gradient, type, colorStops: stops })}
      />
      {gradient !== undefined && (
        <>
          <div class="grid gap-m columns-s">
            <Color label={`${label}, from`} value={stops[0]?.color} onValue={(color) => setColor(0, color)} />
            <Color label={`${label}, to`} value={stops[last]?.color} onValue={(color) => setColor(last, color)} />
          </div>
          {gradient.type === 'linear' && (
            <Slider
              label={`${label}, direction`}
              min={0}
              max={345}
              step={15}
              value={(degreesOf(gradient.rotation) + 360) % 360}
              text={`${(degreesOf(gradient.rotation) + 360) % 360}°`}
              onValue={(degrees) =>
                onGradient({ ...gradient, rotation: Math.round(((degrees * Math.PI) / 180) * 1e4) / 1e4 })
              }
            />
          )}
        </>
      )}
    </fieldset>
  );
}

const levelLabels = { L: 'Low (L)', M: 'Medium (M)', Q: 'High (Q)', H: 'Highest (H)' } as const;

export function SymbolEditor({ style, onStyle }: { style: Style; onStyle(style: Style): void }) {
  const quietZone = style.quietZone ?? defaultQuietZone;
  const level = style.errorCorrection ?? (style.logo === undefined ? 'M' : 'H');
  return (
    <fieldset class="stack gap-m">
      <legend>Quiet zone and error correction</legend>
      <Slider
        label="Quiet zone"
        min={0}
        max={maxQuietZone}
        step={1}
        value={quietZone}
        text={inModules(quietZone)}
        onValue={(next) => onStyle({ ...style, quietZone: next })}
      />
      <Segments
        label="Error correction"
        options={errorCorrectionLevels.map((option) => [option, levelLabels[option]] as const)}
        value={level}
        onValue={(errorCorrection) => onStyle({ ...style, errorCorrection })}
      />
      <p class="hint">A higher level survives more damage, with smaller modules. A logo raises it if it must.</p>
    </fieldset>
  );
}
