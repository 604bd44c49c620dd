// Run by portable.test.ts under other runtimes: draws one picture and prints it as JSON.
import { Buffer } from 'node:buffer';
import process from 'node:process';
import { drawPicture, etagOf } from '../../src/qr/picture.ts';
import { styleWarnings } from '../../src/qr/warnings.ts';

const [url = '', style = '{}'] = process.argv.slice(2);
const picture = { url, style: JSON.parse(style), size: 256 };
const png = await drawPicture({ ...picture, format: 'png' });
const svg = await drawPicture({ ...picture, format: 'svg' });
const etag = etagOf({ ...picture, format: 'png' });
process.stdout.write(
  JSON.stringify({
    png: Buffer.from(png).toString('base64'),
    svg: new TextDecoder().decode(svg),
    etag,
    warnings: styleWarnings(picture.style),
  }),
);
