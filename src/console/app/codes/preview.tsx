import { defaultSizePx } from '../../../qr/layout.ts';
import { drawSvg } from '../../../qr/svg.ts';
import { styleWarnings } from '../../../qr/warnings.ts';
import { displayUrl } from '../format.ts';
import { Icon } from '../icons.tsx';
import type { Style } from './style.ts';

/** The QR image, drawn by the same code that the service uses. */
export function Preview({ url, style }: { url: string; style: Style }) {
  const svg = drawSvg(url, style, defaultSizePx);
  const warnings = styleWarnings(style);
  return (
    <aside class="preview card" aria-label="Preview">
      <img
        src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
        alt={`QR code for ${url}`}
        width={defaultSizePx}
        height={defaultSizePx}
      />
      <p class="link">{displayUrl(url)}</p>
      <div role="status">
        {warnings.length === 0 ? (
          <p class="verdict good">
            <Icon name="check" />
            Easy to scan
          </p>
        ) : (
          warnings.map(({ field, message }) => (
            <p key={field} class="verdict bad">
              <Icon name="warning" />
              {message}
            </p>
          ))
        )}
      </div>
    </aside>
  );
}
