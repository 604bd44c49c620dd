import { useState } from 'preact/hooks';
import { defaultSizePx, maxSizePx, minSizePx } from '../../../qr/layout.ts';
import {
  defaultDpi,
  defaultWidthMm,
  maxDpi,
  maxPrintSizePx,
  maxWidthMm,
  minDpi,
  minWidthMm,
  pixelsOf,
} from '../../../qr/print-sizes.ts';
import { apiUrl, type Query } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { PrintWarning } from '../parts/print-warning.tsx';
import { Segments } from '../parts/segments.tsx';
import type { QrCode } from '../types.ts';

const formats = [
  ['png', 'PNG'],
  ['svg', 'SVG'],
  ['pdf', 'PDF'],
  ['eps', 'EPS'],
] as const;
type Format = (typeof formats)[number][0];

const hints: Record<Format, string> = {
  png: 'For screens, email and office printers.',
  svg: 'For websites and design programs. Sharp at any size.',
  pdf: 'For print shops and office printers. Sharp, and exactly as wide as you choose.',
  eps: 'For print shops and older design programs. Sharp, and exactly as wide as you choose.',
};

const units = [
  ['px', 'Pixels'],
  ['mm', 'Millimeters'],
] as const;

const colors = [
  ['rgb', 'RGB'],
  ['cmyk', 'CMYK'],
] as const;

const pixelPresets = [256, defaultSizePx, 1024, maxSizePx];
const widthPresets = [20, 30, defaultWidthMm, 100];
const dpiPresets = [150, defaultDpi, 600];

/** What the user has entered. */
interface Fields {
  format: Format;
  unit: 'px' | 'mm';
  size: string;
  widthMm: string;
  dpi: string;
  color: 'rgb' | 'cmyk';
}

const initial: Fields = {
  ...{ format: 'png', unit: 'px', color: 'rgb' },
  ...{ size: '1024', widthMm: String(defaultWidthMm), dpi: String(defaultDpi) },
};

const isPrint = (format: Format) => format === 'pdf' || format === 'eps';
const isInMm = ({ format, unit }: Fields) => isPrint(format) || (format === 'png' && unit === 'mm');

const outside = (text: string, pattern: RegExp, min: number, max: number) =>
  !pattern.test(text) || Number(text) < min || Number(text) > max;
const whole = /^\d+$/;
const decimal = /^\d+(\.\d{1,2})?$/;

/** The errors of the fields that the chosen format has. */
function errorsOf(fields: Fields): { size?: string; widthMm?: string; dpi?: string } {
  const { format, size, widthMm, dpi } = fields;
  if (!isInMm(fields))
    return outside(size, whole, minSizePx, maxSizePx)
      ? { size: `Enter a size from ${minSizePx} to ${maxSizePx}.` }
      : {};
  if (outside(widthMm, decimal, minWidthMm, maxWidthMm))
    return { widthMm: `Enter a width from ${minWidthMm} to ${maxWidthMm}.` };
  if (format !== 'png') return {};
  if (outside(dpi, whole, minDpi, maxDpi)) return { dpi: `Enter a resolution from ${minDpi} to ${maxDpi}.` };
  const pixels = pixelsOf(Number(widthMm), Number(dpi));
  if (pixels < minSizePx)
    return { dpi: `That is only ${pixels} pixels; a code needs at least ${minSizePx}. Choose a higher resolution.` };
  if (pixels > maxPrintSizePx)
    return { dpi: `That is ${pixels} pixels; the limit is ${maxPrintSizePx}. Choose less, or a PDF.` };
  return {};
}

function queryOf(fields: Fields): Query {
  const { format, size, widthMm, dpi, color } = fields;
  if (!isInMm(fields)) return { format, size };
  return { format, width_mm: widthMm, ...(format === 'png' ? { dpi } : { color }) };
}

export function DownloadDialog({ code, onClose }: { code: QrCode; onClose(): void }) {
  const [fields, setFields] = useState(initial);
  const set = (change: Partial<Fields>) => setFields((before) => ({ ...before, ...change }));
  const errors = errorsOf(fields);
  const isValid = Object.keys(errors).length === 0;
  const { format } = fields;
  return (
    <Dialog title="Download code" onClose={onClose}>
      <div class="download">
        <PrintWarning url={code.short_url} />
        <Segments label="File format" options={formats} value={format} onValue={(next) => set({ format: next })} />
        <p class="hint">{hints[format]}</p>
        {format === 'png' && (
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
        <div class="actions">
          <a
            class="button primary"
            download
            href={apiUrl(`/qrcodes/${code.id}/download`, isValid ? queryOf(fields) : { format })}
            aria-disabled={!isValid}
            onClick={(event) => {
              if (!isValid) event.preventDefault();
            }}
          >
            <Icon name="download" />
            Download {format.toUpperCase()}
          </a>
        </div>
      </div>
    </Dialog>
  );
}

interface PrintSizeProps {
  fields: Fields;
  errors: ReturnType<typeof errorsOf>;
  set(change: Partial<Fields>): void;
}

function PrintSize({ fields, errors, set }: PrintSizeProps) {
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
    <fieldset class="presets">
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
