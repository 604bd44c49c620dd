import type { LogoArt, LogoClip, LogoPath, VectorLogo } from './logo-art.ts';

/** A logo as bytes, as `logo_files` stores it. */
export interface LogoFile {
  type: 'image/png' | 'application/json';
  content: Uint8Array<ArrayBuffer>;
}

/** The fields of `VectorLogo`. Still written for paths without clips, which older versions then read. */
interface StoredPaths extends Omit<VectorLogo, 'kind'> {
  version: 1;
}

/** Paths that share a clip have its number: one clip of a group applies to all paths in it. */
interface StoredClippedPaths extends Omit<VectorLogo, 'kind' | 'paths'> {
  version: 2;
  clips: readonly LogoClip[];
  paths: readonly (Omit<LogoPath, 'clips'> & { clips?: readonly number[] })[];
}

export function encodeLogo(art: LogoArt): LogoFile {
  if (art.kind === 'raster') return { type: 'image/png', content: art.png };
  const { width, height, paths } = art;
  const stored = paths.some(({ clips }) => clips !== undefined)
    ? sharedClips(art)
    : { version: 1, width, height, paths };
  return { type: 'application/json', content: new TextEncoder().encode(JSON.stringify(stored)) };
}

function sharedClips({ width, height, paths }: VectorLogo): StoredClippedPaths {
  const numbers = new Map<string, number>();
  const shared: LogoClip[] = [];
  const numberOf = (clip: LogoClip): number => {
    const key = `${clip.rule ?? ''} ${clip.d}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, shared.length);
    return shared.push(clip) - 1;
  };
  const stored = paths.map(({ clips, ...path }) =>
    clips === undefined ? path : { ...path, clips: clips.map(numberOf) },
  );
  return { version: 2, width, height, clips: shared, paths: stored };
}

export function decodeLogo({ type, content }: LogoFile): LogoArt {
  if (type === 'application/json') return decodePaths(JSON.parse(new TextDecoder().decode(content)));
  const view = new DataView(content.buffer, content.byteOffset);
  // The header is the first chunk of a PNG.
  return { kind: 'raster', width: view.getUint32(16), height: view.getUint32(20), png: content };
}

function decodePaths(stored: StoredPaths | StoredClippedPaths): VectorLogo {
  const { version, width, height } = stored;
  if (version === 1) return { kind: 'vector', width, height, paths: stored.paths };
  if (version !== 2) throw new Error(`a logo of version ${version} was written by a newer Scanlog`);
  const paths = stored.paths.map(({ clips, ...path }) =>
    clips === undefined ? path : { ...path, clips: clips.map((number) => stored.clips[number] as LogoClip) },
  );
  return { kind: 'vector', width, height, paths };
}
