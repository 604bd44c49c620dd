/** What the map is drawn from, in its units. Both files are written by bench/tools. */
export interface World {
  width: number;
  height: number;
  /** Path data by country. */
  outlines: Record<string, string>;
  /** Around the largest part of each country that has an outline. */
  boxes: Record<string, Box>;
  /** Countries that are too small for an outline. */
  dots: Record<string, Point>;
}

export type Point = [x: number, y: number];
export type Box = [x: number, y: number, width: number, height: number];

/** Cities by country, each as `name:x,y` between semicolons, such as `;bern:4993,749;zurich:5022,741;`. */
export type Cities = Record<string, string>;

/** A name in small letters without accents: databases of places differ in these. */
export const cityKey = (city: string) => city.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Where a city is; undefined if the map does not have it. */
export function placeOf(cities: Cities, country: string, city: string): Point | undefined {
  const list = cities[country] ?? '';
  const entry = `;${cityKey(city)}:`;
  const at = list.indexOf(entry);
  if (at < 0) return;
  const start = at + entry.length;
  const [x, y] = list.slice(start, list.indexOf(';', start)).split(',').map(Number);
  return x === undefined || y === undefined ? undefined : [x, y];
}

/** How much of the part that is shown is around its countries. */
const margin = 0.3;
/** Outlines are too coarse for less than 1,600 km. */
const minWidth = 400;
/** From this share of the world on, all of it is shown. */
const wholeFrom = 0.7;

/** The part of the world that has these countries, in the proportions of the whole. */
export function viewOf({ width, height, boxes, dots }: World, countries: string[]): Box {
  const whole: Box = [0, 0, width, height];
  const parts = countries.flatMap((code) => {
    const [x, y] = dots[code] ?? [];
    const box: Box | undefined = x === undefined || y === undefined ? boxes[code] : [x, y, 0, 0];
    return box === undefined ? [] : [box];
  });
  if (parts.length === 0) return whole;
  const left = Math.min(...parts.map(([x]) => x));
  const top = Math.min(...parts.map(([, y]) => y));
  const right = Math.max(...parts.map(([x, , boxWidth]) => x + boxWidth));
  const bottom = Math.max(...parts.map(([, y, , boxHeight]) => y + boxHeight));
  const needed = Math.max(right - left, ((bottom - top) * width) / height) * (1 + margin);
  const shownWidth = Math.round(Math.max(minWidth, needed));
  if (shownWidth > width * wholeFrom) return whole;
  const shownHeight = Math.round((shownWidth * height) / width);
  const within = (center: number, size: number, limit: number) =>
    Math.round(Math.max(0, Math.min(limit - size, center - size / 2)));
  return [
    within((left + right) / 2, shownWidth, width),
    within((top + bottom) / 2, shownHeight, height),
    shownWidth,
    shownHeight,
  ];
}
