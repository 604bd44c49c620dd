import type { Utm } from './targeting-schema.ts';
import { utmFields } from './targeting-words.ts';

/** Percent-encodes what a `Location` header cannot contain, and a `#`, which would begin the fragment. */
const encoded = (text: string) => text.toWellFormed().replace(/[^\x21-\x7e]+|#/gu, encodeURIComponent);

function nameOf(piece: string): string {
  const [name = ''] = piece.split('=', 1);
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

const piecesOf = (query: string) => query.split('&').filter((piece) => piece !== '');

/**
 * Returns a function from the query of a scan to the `Location`: the destination with its own parameters, then the
 * forwarded ones whose names it does not have, then the utm parameters that neither has, then its fragment.
 */
export function locator(
  location: string,
  { forward, utm }: { forward: boolean; utm: Utm | undefined },
): (query: string) => string {
  if (!forward && utm === undefined) return () => location;
  const hash = location.indexOf('#');
  const base = hash === -1 ? location : location.slice(0, hash);
  const fragment = hash === -1 ? '' : location.slice(hash);
  const question = base.indexOf('?');
  const own = new Set(question === -1 ? [] : piecesOf(base.slice(question + 1)).map(nameOf));
  const ownUtm = utmFields.flatMap((field) => {
    const value = utm?.[field];
    const name = `utm_${field}`;
    return value === undefined || own.has(name) ? [] : [{ name, piece: `${name}=${encodeURIComponent(value)}` }];
  });
  const separator = question === -1 ? '?' : /[?&]$/.test(base) ? '' : '&';

  return (query) => {
    const forwarded = forward ? piecesOf(query).filter((piece) => !own.has(nameOf(piece))) : [];
    const names = new Set(ownUtm.length === 0 ? [] : forwarded.map(nameOf));
    const added = [
      ...forwarded.map(encoded),
      ...ownUtm.filter(({ name }) => !names.has(name)).map(({ piece }) => piece),
    ];
    return added.length === 0 ? location : `${base}${separator}${added.join('&')}${fragment}`;
  };
}
