// Run by portable.test.ts under other runtimes: draws one image and prints it as JSON.
import { Buffer } from 'node:buffer';
import process from 'node:process';
import { drawQrImage, etagOf } from '../../src/qr/image.ts';
import { styleWarnings } from '../../src/qr/warnings.ts';

const [url = '', style = '{}'] = process.argv.slice(2);
const image = { url, style: JSON.parse(style), size: 256 };
const png = await drawQrImage({ ...image, format: 'png' });
const svg = await drawQrImage({ ...image, format: 'svg' });
const etag = etagOf({ ...image, format: 'png' });
process.stdout.write(
  JSON.stringify({
    png: Buffer.from(png).toString('base64'),
    svg: new TextDecoder().decode(svg),
    etag,
    warnings: styleWarnings(image.style),
  }),
);
