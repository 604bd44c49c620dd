import { deflateSync } from 'node:zlib';
import { readLogo } from '../../src/logos/read-logo.ts';
import { chunk, png } from './images.ts';

// A process of its own, whose memory no other test uses: prints by how many bytes it has grown.

// 200 MB of zeros in a text chunk and after the pixels.
const zeros = deflateSync(Buffer.alloc(200 * 1024 * 1024));
const bomb = png({ extra: [chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), zeros]))] });
const before = process.memoryUsage().rss;
await readLogo(bomb);
console.log(process.memoryUsage().rss - before);
