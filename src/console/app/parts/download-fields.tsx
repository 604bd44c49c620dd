import { defaultSizePx, maxSizePx } from '../../../qr/layout.ts';
import {
  defaultDpi,
  defaultWidthMm,
  type ImageFormat,
  type InkSpace,
  imageFormats,
  inkSpaces,
  pixelsOf,
} from '../../../qr/print-sizes.ts';
import { type DownloadErrors, type DownloadFields, isInMm } from './download-options.ts';
import { Field } from './field.tsx';
import { Segments } from './segments.tsx';

const inCapitals = <T extends string>(values: readonly T[]) =>
  values.map((value) => [value, value.toUpperCase()] as const);
const formats = inCapitals<ImageFormat>(imageFormats);
const colors = inCapitals<InkSpace>(inkSpaces);

const hints: Record<ImageFormat, string> = {
  png: 'For screens, email and office printers.',
  svg: 'For websites and design programs. Sharp at any size.',
  pdf: 'For print shops and office printers. Sharp, and exactly as wide as you choose.',
  eps: 'For print shops and older design programs. Sharp, and exactly as wide as you choose.',
};

const units = [
  ['px', 'Pixels'],
  ['mm', 'Millimeters'],
] as const;

const pixelPresets = [256, defaultSizePx, 1024, maxSizePx];
const widthPresets = [20, 30, defaultWidthMm, 100];
const dpiPresets = [150, defaultDpi, 600];

interface Props {
  fields: DownloadFields;
  errors: DownloadErrors;
  set(change: Partial<DownloadFields>): void;
}

/** Format, size and color of a download. */
export const DownloadOptions = ({ fields, errors, set }: Props) => (
  <>
    <Segments label="File format" options={formats} value={fields.format} onValue={(format) => set({ format })} />
    <p class="hint">{hints[fields.format]}</p>
    {fields.format === 'png' && (
      <Segments label="Unit" options={units} value={fields.unit} onValue={(unit) => set({ unit })} />
    )}
    {isInMm(fields) ? (
      <PrintSize fields={fields} errors={errors} set={set} />
    ) : (
      <SizeField
        label="Size in pixels"
        value={fields.size}
        onValue={(size) => set({ size })}
        error={errors.size}
        presets={pixelPresets}
      />
    )}
  </>
);

function PrintSize({ fields, errors, set }: Props) {
  const { format, widthMm, dpi, color } = fields;
  return (
    <>
      <SizeField
        label="Width in millimeters"
        value={widthMm}
        onValue={(next) => set({ widthMm: next })}
        error={errors.widthMm}
        presets={widthPresets}
      />
      {format === 'png' ? (
        <>
          <SizeField
            label="Resolution in dpi"
            value={dpi}
            onValue={(next) => set({ dpi: next })}
            error={errors.dpi}
            presets={dpiPresets}
          />
          {Object.keys(errors).length === 0 && (
            <p class="hint" role="status">
              {pixelsOf(Number(widthMm), Number(dpi))} pixels wide.
            </p>
          )}
        </>
      ) : (
        <>
          <Segments label="Color" options={colors} value={color} onValue={(next) => set({ color: next })} />
          <p class="hint">
            {color === 'rgb'
              ? 'RGB suits most printers, which convert the colors themselves.'
              : 'CMYK for offset print. Black is printed with black ink alone.'}
          </p>
        </>
      )}
    </>
  );
}

interface SizeFieldProps {
  label: string;
  value: string;
  onValue(value: string): void;
  error: string | undefined;
  presets: readonly number[];
}

const SizeField = ({ label, value, onValue, error, presets }: SizeFieldProps) => (
  <>
    <Field label={label} inputMode="numeric" value={value} onValue={onValue} error={error} />
    <fieldset class="row">
      <legend class="hidden">{label}</legend>
      {presets.map((preset) => (
        <button
          key={preset}
          type="button"
          class="button"
          aria-pressed={value === String(preset)}
          onClick={() => onValue(String(preset))}
        >
          {preset}
        </button>
      ))}
    </fieldset>
  </>
);
