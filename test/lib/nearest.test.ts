import { expect, test } from 'vitest';
import { nearest } from '../../src/lib/nearest.ts';

const known = ['name', 'destination_url', 'short_code', 'status', 'style', 'start_date', 'end_date', 'page', 'limit'];

test.each([
  ['destnation_url', 'destination_url'],
  ['destinationUrl', 'destination_url'],
  ['DESTINATION-URL', 'destination_url'],
  ['shortcode', 'short_code'],
  ['nmae', 'name'],
  ['stlye', 'style'],
  ['statuss', 'status'],
  ['startdate', 'start_date'],
  ['stat_date', 'start_date'],
  ['pge', 'page'],
  ['limits', 'limit'],
])('%s is near %s', (name, expected) => expect(nearest(name, known)).toBe(expected));

test.each(['', 'x', 'color', 'per_page', 'cursor', 'api_key', 'page'.repeat(1_000)])(
  'nothing is near %.20s',
  (name) => {
    expect(nearest(name, known)).toBeUndefined();
  },
);

test('of several near names the nearest wins, and none of an empty list', () => {
  expect(nearest('stats', ['start', 'status', 'state'])).toBe('status');
  expect(nearest('state', ['start', 'states', 'status'])).toBe('states');
  expect(nearest('page', [])).toBeUndefined();
});

test('a name of a megabyte costs nothing', () => {
  expect(nearest('n'.repeat(1_000_000), known)).toBeUndefined();
});
