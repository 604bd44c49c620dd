/** Long enough for any label, short enough for every file system once the UTF-8 form is counted in bytes. */
const MAX_BYTES = 120;
const FALLBACK = 'qr-code';

/**
 * A `Content-Disposition` whose file name is made from a code's name: an ASCII form for every client, and a UTF-8 form
 * (RFC 8187) where the two differ.
 *
 * @example
 * contentDisposition('Café menu', 'png');
 * // attachment; filename="Cafe menu.png"; filename*=UTF-8''Caf%C3%A9%20menu.png
 */
export function contentDisposition(
  name: string,
  extension: string,
  disposition: 'attachment' | 'inline' = 'attachment',
): string {
  const full = safeName(name);
  const ascii = safeName(
    full
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[^\x20-\x7e]/gu, '-'),
  );
  const header = `${disposition}; filename="${ascii}.${extension}"`;
  return ascii === full ? header : `${header}; filename*=UTF-8''${encode(`${full}.${extension}`)}`;
}

/** A name without anything that a header, a path or a file system gives a meaning to. */
function safeName(name: string): string {
  const cleaned = name
    .toWellFormed()
    .normalize('NFC')
    // Control characters, line separators, and those that turn the direction of text and so can hide the extension.
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff\ufffd]/gu, ' ')
    .replace(/[\\/:*?"<>|%;]/g, '-')
    .replace(/\s+/g, ' ')
    .replace(/-{2,}/g, '-');
  const trimmed = trim(cut(trim(cleaned)));
  if (trimmed === '') return FALLBACK;
  // Windows takes these for devices, whatever the extension.
  return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(trimmed) ? `${FALLBACK}-${trimmed}` : trimmed;
}

function trim(name: string): string {
  return name.replace(/^[\s.-]+|[\s.-]+$/g, '');
}

/** The longest beginning, in whole characters as a reader counts them, that is not too long. */
function cut(name: string): string {
  const encoder = new TextEncoder();
  let kept = '';
  let bytes = 0;
  for (const { segment } of new Intl.Segmenter('en').segment(name)) {
    bytes += encoder.encode(segment).length;
    if (bytes > MAX_BYTES) break;
    kept += segment;
  }
  return kept;
}

function encode(name: string): string {
  return encodeURIComponent(name).replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
