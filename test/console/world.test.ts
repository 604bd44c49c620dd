import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Cities, cityKey, placeOf, viewOf, type World } from '../../src/console/app/analytics/world.ts';

const read = async (name: string) =>
  readFile(new URL(`../../src/console/app/analytics/${name}`, import.meta.url), 'utf8');
const [outlineText, citiesText] = [await read('world-outline.json'), await read('world-cities.json')];
const world: World = JSON.parse(outlineText);
const cities: Cities = JSON.parse(citiesText);

describe('cities', () => {
  test('are found by their country and name, with or without accents', () => {
    const [x = 0, y = 0] = placeOf(cities, 'CH', 'Zürich') ?? [];
    expect(placeOf(cities, 'CH', 'zurich')).toEqual([x, y]);
    const [left = 0, top = 0, width = 0, height = 0] = world.boxes['CH'] ?? [];
    expect([x > left, x < left + width, y > top, y < top + height]).toEqual([true, true, true, true]);
    expect(placeOf(cities, 'GB', 'London')).not.toEqual(placeOf(cities, 'CA', 'London'));
    for (const [country, city] of [
      ['DE', 'Zürich'],
      ['ZZ', 'Berlin'],
      ['DE', ''],
      ['DE', ';berlin'],
    ] as const)
      expect(placeOf(cities, country, city), `${country} ${city}`).toBeUndefined();
  });

  test('have names as they are looked up, and places on the map', () => {
    const entries = Object.values(cities).flatMap((list) => list.split(';').slice(1, -1));
    expect(entries.length).toBeGreaterThan(5_000);
    const isRight = (entry: string) => {
      const [, key = '', x = '', y = ''] = /^([^:;]+):(\d+),(\d+)$/.exec(entry) ?? [];
      return key !== '' && key === cityKey(key) && Number(x) <= world.width && Number(y) <= world.height;
    };
    expect(entries.filter((entry) => !isRight(entry))).toEqual([]);
  });

  test('and outlines together stay below 120 kB compressed', () => {
    expect(gzipSync(outlineText).length + gzipSync(citiesText).length).toBeLessThan(120_000);
  });
});

describe('the part of the world that is shown', () => {
  test('is all of it without countries, or with countries far apart', () => {
    const whole = [0, 0, world.width, world.height];
    for (const countries of [[], ['XX'], ['US', 'JP'], ['RU', 'DE', 'BR']])
      expect(viewOf(world, countries), countries.join()).toEqual(whole);
  });

  test('has the countries in its middle, in the proportions of the whole, and never beyond its edges', () => {
    for (const countries of [['FR'], ['DE', 'AT', 'CH'], ['SG'], ['NZ'], ['FJ'], ['CA']]) {
      const [x, y, width, height] = viewOf(world, countries);
      const name = countries.join();
      expect(width, name).toBeLessThan(world.width * 0.7);
      expect(width / height, name).toBeCloseTo(world.width / world.height, 1);
      expect([x >= 0, y >= 0, x + width <= world.width, y + height <= world.height], name).toEqual(Array(4).fill(true));
      for (const code of countries) {
        const [left = 0, top = 0] = world.boxes[code] ?? world.dots[code] ?? [];
        expect([left >= x, left <= x + width, top >= y, top <= y + height], code).toEqual(Array(4).fill(true));
      }
    }
  });
});
