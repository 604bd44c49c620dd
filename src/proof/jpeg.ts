import type { Gray } from './gray.ts';

const blockSide = 8;

/** The luminance table of annex K of the JPEG standard. */
const quantization = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
  87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
  72, 92, 95, 98, 112, 100, 103, 99,
];

/** `forward[frequency * 8 + position]`; the inverse transform uses it transposed. */
const forward = Float32Array.from({ length: 64 }, (_, i) => {
  const [frequency, position] = [i >> 3, i & 7];
  return (frequency === 0 ? Math.SQRT1_2 : 1) * 0.5 * Math.cos(((2 * position + 1) * frequency * Math.PI) / 16);
});
const inverse = Float32Array.from({ length: 64 }, (_, i) => at(forward, (i & 7) * 8 + (i >> 3)));

/** What JPEG of that quality (1 to 49) leaves of an image: the losses of its 8 × 8 blocks, without the file. */
export function jpegLike({ width, height, data }: Gray, quality: number): Gray {
  const steps = Float32Array.from(quantization, (step) => Math.round((step * 50) / quality));
  const result = new Uint8Array(width * height);
  const block = new Float32Array(64);
  const work = new Float32Array(64);
  for (let top = 0; top < height; top += blockSide) {
    for (let left = 0; left < width; left += blockSide) {
      for (let i = 0; i < 64; i++) {
        const x = Math.min(width - 1, left + (i & 7));
        const y = Math.min(height - 1, top + (i >> 3));
        block[i] = (data[y * width + x] as number) - 128;
      }
      transform(block, work, forward);
      for (let i = 0; i < 64; i++) block[i] = Math.round(at(block, i) / at(steps, i)) * at(steps, i);
      transform(block, work, inverse);
      for (let i = 0; i < 64; i++) {
        const [x, y] = [left + (i & 7), top + (i >> 3)];
        if (x < width && y < height) result[y * width + x] = Math.min(255, Math.max(0, Math.round(at(block, i) + 128)));
      }
    }
  }
  return { width, height, data: result };
}

/** The cosine transform of a block in place: rows, then columns. */
function transform(block: Float32Array, work: Float32Array, weights: Float32Array): void {
  for (let y = 0; y < 64; y += 8) {
    for (let to = 0; to < 8; to++) {
      let sum = 0;
      for (let from = 0; from < 8; from++) sum += at(block, y + from) * at(weights, to * 8 + from);
      work[y + to] = sum;
    }
  }
  for (let x = 0; x < 8; x++) {
    for (let to = 0; to < 8; to++) {
      let sum = 0;
      for (let from = 0; from < 8; from++) sum += at(work, from * 8 + x) * at(weights, to * 8 + from);
      block[to * 8 + x] = sum;
    }
  }
}

// Of one type, and every index is in range by construction.
function at(values: Float32Array, index: number): number {
  return values[index] as number;
}
