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

export interface Bundle {
  script: Asset;
  /** Of the pages of operators. */
  operatorScript: Asset;
  phoneScript: Asset;
  /** Of the pages that one-time links open. */
  linkScript: Asset;
  /** Of the page that signs in with a passkey. */
  passkeyScript: Asset;
  style: Asset;
  mark: Asset;
  /** Outlines of the letters of frames, loaded only for a style with text. */
  frameFont: Asset;
  world: Asset;
}

const sourcePath = (name: string) => fileURLToPath(new URL(`./app/${name}`, import.meta.url));

/**
 * Bundles the console's sources in memory within a fraction of a second. Nothing is written to disk: the checkout may
 * be read-only, and the bundle is never stale.
 */
export async function buildBundle(): Promise<Bundle> {
  const [script, operatorScript, phoneScript, linkScript, passkeyScript, style, mark, frameFont, world] =
    await Promise.all([
      bundleFile('main.tsx'),
      bundleFile('operator/main.tsx'),
      bundleFile('phone.ts'),
      bundleFile('link.ts'),
      bundleFile('passkey.ts'),
      bundleFile('style/console.css'),
      readFile(sourcePath('mark.svg')).then((bytes) => new Uint8Array(bytes)),
      readFile(new URL('../qr/frame-font.json', import.meta.url)).then((bytes) => new Uint8Array(bytes)),
      readFile(sourcePath('analytics/world-outline.json')).then((bytes) => new Uint8Array(bytes)),
    ]);
  const [
    scriptAsset,
    operatorScriptAsset,
    phoneScriptAsset,
    linkScriptAsset,
    passkeyScriptAsset,
    styleAsset,
    markAsset,
    frameFontAsset,
    worldAsset,
  ] = await Promise.all([
    createAsset('console.js', 'text/javascript; charset=utf-8', script),
    createAsset('operator.js', 'text/javascript; charset=utf-8', operatorScript),
    createAsset('phone.js', 'text/javascript; charset=utf-8', phoneScript),
    createAsset('link.js', 'text/javascript; charset=utf-8', linkScript),
    createAsset('passkey.js', 'text/javascript; charset=utf-8', passkeyScript),
    createAsset('console.css', 'text/css; charset=utf-8', style),
    createAsset('mark.svg', 'image/svg+xml', mark),
    createAsset('frame-font.json', 'application/json; charset=utf-8', frameFont),
    createAsset('world.json', 'application/json; charset=utf-8', world),
  ]);
  return {
    script: scriptAsset,
    operatorScript: operatorScriptAsset,
    phoneScript: phoneScriptAsset,
    linkScript: linkScriptAsset,
    passkeyScript: passkeyScriptAsset,
    style: styleAsset,
    mark: markAsset,
    frameFont: frameFontAsset,
    world: worldAsset,
  };
}

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
