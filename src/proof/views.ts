import { type Gray, withBorder } from './gray.ts';
import { jpegLike } from './jpeg.ts';

/** Resolution at which printed sizes are drawn. */
export const printDpi = 300;
const printPixelsPerMm = printDpi / 25.4;

/** What a phone's camera resolves at 15 cm, in a frame of 1,920 × 1,080 pixels. */
const phonePixelsPerMm = 9;

/** What surrounds a print on a wall or a package: neither paper white nor as dark as the modules. */
const surroundingShade = 110;
const borderMm = 1.5;

/** A way in which a print reaches a decoder. */
export interface View {
  /** For a sentence: "does not read it {when}". */
  readonly when: string;
  see(print: Gray): Gray;
}

/** The print itself, on white paper. */
export const flatView: View = {
  when: 'as printed',
  see: (print) => withBorder(print, Math.round(borderMm * printPixelsPerMm), 255),
};

/** The print as a phone's camera sees it. */
export const phoneViews: readonly View[] = [
  { when: 'slightly out of focus', see: (print) => blurred(photographed(print), 0.09 * phonePixelsPerMm) },
  { when: 'at an angle', see: (print) => tilted(photographed(print)) },
  { when: 'in low light', see: (print) => inLowLight(photographed(print)) },
  { when: 'in a compressed photo', see: (print) => jpegLike(photographed(print), 25) },
];

/** A scanner tries many frames, and the hand moves between them: the same view from slightly different distances. */
export const frameZooms = [1, 0.88, 1.13] as const;

/** All views of a print start from the same photo of it. */
const photos = new WeakMap<Gray, Gray>();

function photographed(print: Gray): Gray {
  const known = photos.get(print);
  if (known !== undefined) return known;
  const onWall = withBorder(print, Math.round(borderMm * printPixelsPerMm), surroundingShade);
  const photo = zoomed(onWall, phonePixelsPerMm / printPixelsPerMm);
  photos.set(print, photo);
  return photo;
}

export function zoomed({ width, height, data }: Gray, zoom: number): Gray {
  if (zoom === 1) return { width, height, data };
  const [wide, high] = [Math.round(width * zoom), Math.round(height * zoom)];
  const result = new Uint8Array(wide * high);
  for (let y = 0; y < high; y++)
    for (let x = 0; x < wide; x++)
      result[y * wide + x] = sampled(data, width, height, (x + 0.5) / zoom, (y + 0.5) / zoom);
  return { width: wide, height: high, data: result };
}

/** A Gaussian blur. The outermost pixels, which belong to the border, stay as they are. */
export function blurred({ width, height, data }: Gray, sigma: number): Gray {
  const radius = Math.max(1, Math.ceil(sigma * 2.5));
  const weights = Array.from({ length: 2 * radius + 1 }, (_, i) => Math.exp(-((i - radius) ** 2) / (2 * sigma ** 2)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const along = (source: Float32Array, step: number) => {
    const result = new Float32Array(source.length);
    const end = source.length - radius * step;
    for (let i = 0; i < weights.length; i++) {
      const share = (weights[i] as number) / sum;
      const offset = (i - radius) * step;
      for (let at = radius * step; at < end; at++)
        result[at] = (result[at] as number) + share * (source[at + offset] as number);
    }
    return result;
  };
  const soft = along(along(Float32Array.from(data), 1), width);
  const result = data.slice();
  for (let y = radius; y < height - radius; y++)
    for (let at = y * width + radius; at < (y + 1) * width - radius; at++) result[at] = soft[at] as number;
  return { width, height, data: result };
}

/** Turned by 20° around the upright axis, seen from three widths away, and by 10° in the plane. */
export function tilted({ width, height, data }: Gray): Gray {
  const [yaw, roll] = [(20 * Math.PI) / 180, (10 * Math.PI) / 180];
  const size = Math.ceil(Math.hypot(width, height));
  const result = new Uint8Array(size * size);
  const [cos, sin, yawCos, yawSin] = [Math.cos(roll), Math.sin(roll), Math.cos(yaw), Math.sin(yaw)];
  const distance = 3 * width;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const [dx, dy] = [x - size / 2, y - size / 2];
      const [u, v] = [cos * dx + sin * dy, cos * dy - sin * dx];
      // The point of the turned plane that the ray through the pixel meets.
      const depth = distance / (distance * yawCos - u * yawSin);
      result[y * size + x] = sampled(data, width, height, u * depth + width / 2, v * depth * yawCos + height / 2);
    }
  }
  return { width: size, height: size, data: result };
}

/** Between the four nearest pixels; outside, the surroundings. */
function sampled(data: Uint8Array, width: number, height: number, x: number, y: number): number {
  const [left, top] = [Math.floor(x - 0.5), Math.floor(y - 0.5)];
  if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) return surroundingShade;
  const [fx, fy] = [x - 0.5 - left, y - 0.5 - top];
  const i = top * width + left;
  const above = (data[i] as number) * (1 - fx) + (data[i + 1] as number) * fx;
  const below = (data[i + width] as number) * (1 - fx) + (data[i + width + 1] as number) * fx;
  return above * (1 - fy) + below * fy;
}

/** A third of the contrast, a shadow from the left, and the noise of a sensor; the same noise in every proof. */
export function inLowLight({ width, height, data }: Gray): Gray {
  const result = new Uint8Array(width * height);
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const light = 0.6 + (0.4 * x) / width;
      // The sum of three is close to a normal distribution, with a standard deviation of 6.
      const noise = (random() + random() + random() - 1.5) * 12;
      result[y * width + x] = Math.max(0, 20 + (data[y * width + x] as number) * 0.33 * light + noise);
    }
  }
  return { width, height, data: result };
}
