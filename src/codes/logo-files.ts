import type { LogoArt, VectorLogo } from '../qr/logo-art.ts';

/** A logo as bytes, as `logo_files` stores it. */
export interface LogoFile {
  type: 'image/png' | 'application/json';
  content: Uint8Array<ArrayBuffer>;
}

/** Version 1 of paths: the fields of `VectorLogo`. */
const pathsVersion = 1;

interface StoredPaths extends Omit<VectorLogo, 'kind'> {
  version: typeof pathsVersion;
}

export function encodeLogo(art: LogoArt): LogoFile {
  if (art.kind === 'raster') return { type: 'image/png', content: art.png };
  const { width, height, paths } = art;
  const stored: StoredPaths = { version: pathsVersion, width, height, paths };
  return { type: 'application/json', content: new TextEncoder().encode(JSON.stringify(stored)) };
}

export function decodeLogo({ type, content }: LogoFile): LogoArt {
  if (type === 'application/json') {
    const { version, ...paths }: StoredPaths = JSON.parse(new TextDecoder().decode(content));
    if (version !== pathsVersion) throw new Error(`a logo of version ${version} was written by a newer Scanlog`);
    return { kind: 'vector', ...paths };
  }
  const view = new DataView(content.buffer, content.byteOffset);
  // The header is the first chunk of a PNG.
  return { kind: 'raster', width: view.getUint32(16), height: view.getUint32(20), png: content };
}
