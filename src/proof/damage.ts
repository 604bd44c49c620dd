import type { Decoder } from './decoders.ts';
import type { Gray } from './gray.ts';
import type { Printer } from './printer.ts';
import { flatView } from './views.ts';

/** Large enough that the size itself is no obstacle. */
const sizeMm = 20;

/** Shares of the symbol that are tried, from 2 to 30 %. */
const shares = Array.from({ length: 15 }, (_, i) => (2 * (i + 1)) / 100);

/** Centers of the spots, as shares of the symbol's side: away from the finder patterns, which no code can lose. */
const spots = [
  { x: 0.5, y: 0.5 },
  { x: 0.72, y: 0.72 },
  { x: 0.75, y: 0.45 },
];

/** The largest share that can be covered with paper white in any of the spots, one at a time, and still be read. */
export async function damageToleratedBy(decoder: Decoder, printer: Printer, url: string): Promise<number> {
  const print = printer.at(sizeMm);
  const survives = async (share: number) => {
    for (const spot of spots)
      if ((await decoder.read(flatView.see(covered(print, printer, spot, share)))) !== url) return false;
    return true;
  };
  if ((await decoder.read(flatView.see(print))) !== url) return 0;
  // The smallest index that does not survive, by bisection.
  let [low, high] = [0, shares.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await survives(shares[middle] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : (shares[low - 1] ?? 0);
}

function covered(
  { width, height, data }: Gray,
  { symbol }: Printer,
  spot: { x: number; y: number },
  share: number,
): Gray {
  const result = data.slice();
  const side = symbol.side * width;
  const half = (Math.sqrt(share) * side) / 2;
  const centerX = symbol.x * width + spot.x * side;
  const centerY = symbol.y * width + spot.y * side;
  const [left, right] = [Math.max(0, Math.round(centerX - half)), Math.min(width, Math.round(centerX + half))];
  for (let y = Math.max(0, Math.round(centerY - half)); y < Math.min(height, Math.round(centerY + half)); y++) {
    result.fill(255, y * width + left, y * width + right);
  }
  return { width, height, data: result };
}
