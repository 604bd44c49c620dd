import { useState } from 'preact/hooks';
import { defaultSizePx, maxSizePx, minSizePx } from '../../../qr/layout.ts';
import { apiUrl } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { PrintWarning } from '../parts/print-warning.tsx';
import { Segments } from '../parts/segments.tsx';
import type { QrCode } from '../types.ts';

const formats = [
  ['png', 'PNG'],
  ['svg', 'SVG'],
] as const;

const sizes = [256, defaultSizePx, 1024, maxSizePx];

export function DownloadDialog({ code, onClose }: { code: QrCode; onClose(): void }) {
  const [format, setFormat] = useState<'png' | 'svg'>('png');
  const [size, setSize] = useState('1024');
  const isValidSize = /^\d+$/.test(size) && Number(size) >= minSizePx && Number(size) <= maxSizePx;
  return (
    <Dialog title="Download code" onClose={onClose}>
      <div class="download">
        <PrintWarning url={code.short_url} />
        <Segments label="File format" options={formats} value={format} onValue={(next) => setFormat(next)} />
        <p class="hint">
          {format === 'png' ? 'For screens, email and office printers.' : 'For print shops. Sharp at any size.'}
        </p>
        <Field
          label="Size in pixels"
          inputMode="numeric"
          value={size}
          onValue={setSize}
          error={isValidSize ? undefined : `Enter a size from ${minSizePx} to ${maxSizePx}.`}
        />
        <div class="presets">
          {sizes.map((preset) => (
            <button
              key={preset}
              type="button"
              class="button"
              aria-pressed={size === String(preset)}
              onClick={() => setSize(String(preset))}
            >
              {preset}
            </button>
          ))}
        </div>
        <div class="actions">
          <a
            class="button primary"
            download
            href={apiUrl(`/qrcodes/${code.id}/download`, { format, size: isValidSize ? size : defaultSizePx })}
            aria-disabled={!isValidSize}
            onClick={(event) => {
              if (!isValidSize) event.preventDefault();
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
