import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

type Bytes = Uint8Array<ArrayBuffer>;

/** One file of the console. Its path contains a hash of its content, so browsers may cache it forever. */
export interface Asset {
  path: string;
  type: string;
  plain: Bytes;
  gzip: Bytes;
  br: Bytes;
}

const sourcePath = (name: string) => fileURLToPath(new URL(`./app/${name}`, import.meta.url));

const javascript = 'text/javascript; charset=utf-8';
const json = 'application/json; charset=utf-8';

/** The files of the console, each with the name and type that it is served with, and what makes it. */
const files = {
  script: { name: 'console.js', type: javascript, make: () => bundleFile('main.tsx') },
  /** Draws charts; loaded only for a page with one. */
  plotScript: { name: 'plot.js', type: javascript, make: () => bundleFile('analytics/plot.ts') },
  /** Of the pages of operators. */
  operatorScript: { name: 'operator.js', type: javascript, make: () => bundleFile('operator/main.tsx') },
  phoneScript: { name: 'phone.js', type: javascript, make: () => bundleFile('phone.ts') },
  /** Of the pages that one-time links open. */
  linkScript: { name: 'link.js', type: javascript, make: () => bundleFile('link.ts') },
  /** Of the page that signs in with a passkey. */
  passkeyScript: { name: 'passkey.js', type: javascript, make: () => bundleFile('passkey.ts') },
  style: { name: 'console.css', type: 'text/css; charset=utf-8', make: () => bundleFile('style/console.css') },
  mark: { name: 'mark.svg', type: 'image/svg+xml', make: () => read(sourcePath('mark.svg')) },
  /** Outlines of the letters of frames, loaded only for a style with text. */
  frameFont: {
    name: 'frame-font.json',
    type: json,
    make: () => read(fileURLToPath(new URL('../qr/frame-font.json', import.meta.url))),
  },
  world: { name: 'world.json', type: json, make: () => read(sourcePath('analytics/world-outline.json')) },
  /** Where cities are, loaded only with the map. */
  cities: { name: 'cities.json', type: json, make: () => read(sourcePath('analytics/world-cities.json')) },
};

export type Bundle = Record<keyof typeof files, Asset>;

/**
 * Bundles the console's sources in memory within a fraction of a second. Nothing is written to disk: the checkout may
 * be read-only, and the bundle is never stale.
 */
export async function buildBundle(): Promise<Bundle> {
  const assets = await Promise.all(
    Object.entries(files).map(async ([key, { name, type, make }]) => [
      key,
      await createAsset(name, type, await make()),
    ]),
  );
  return Object.fromEntries(assets);
}

const read = async (path: string): Promise<Bytes> => new Uint8Array(await readFile(path));

async function bundleFile(name: string): Promise<Bytes> {
  const { outputs } = await Bun.build({
    entrypoints: [sourcePath(name)],
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const [output] = outputs;
  if (output === undefined) throw new Error(`bundling the console produced no output for ${name}`);
  return new Uint8Array(await output.arrayBuffer());
}

async function createAsset(name: string, type: string, plain: Bytes): Promise<Asset> {
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 12);
  const [stem, extension] = name.split('.');
  const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const [gzipped, brotli] = await Promise.all([
    promisify(gzip)(plain, { level: 9 }),
    promisify<Bytes, object, Buffer>(brotliCompress)(plain, brotliOptions),
  ]);
  return {
    path: `/console/assets/${stem}-${hash}.${extension}`,
    type,
    plain,
    gzip: new Uint8Array(gzipped),
    br: new Uint8Array(brotli),
  };
}
