import { expect, test } from 'vitest';
import { pageNumbers, pageQueryOf } from '../../src/console/app/parts/page-numbers.ts';

test.each([
  [1, 1, [1]],
  [1, 3, [1, 2, 3]],
  [1, 20, [1, 2, undefined, 20]],
  [4, 20, [1, 2, 3, 4, 5, undefined, 20]],
  [10, 20, [1, undefined, 9, 10, 11, undefined, 20]],
  [18, 20, [1, undefined, 17, 18, 19, 20]],
])('page %i of %i links to the pages around it', (current, total, expected) => {
  expect(pageNumbers(current, total)).toEqual(expected);
});

test.each([
  ['page=3&limit=50', { page: 3, limit: 50 }],
  ['', { page: undefined, limit: 20 }],
  ['page=0&limit=7', { page: undefined, limit: 20 }],
  ['page=x&limit=', { page: undefined, limit: 20 }],
  ['page=1.5', { page: undefined, limit: 20 }],
])('reads page and size of %j', (query, expected) => {
  expect(pageQueryOf(new URLSearchParams(query), [20, 50])).toEqual(expected);
});
