import { expect, test } from 'vitest';
import { FairQueue } from '../../src/render/fair-queue.ts';

const any = () => true;

test('accounts take turns, and the items of one keep their order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charAt(0), item);
  const taken = Array.from({ length: 7 }, () => queue.take(any));
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  expect(queue.size).toBe(0);
});

test('an account that may not run keeps its turn', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'b1', 'b2']) queue.push(item.charAt(0), item);
  const withoutA = (item: string) => !item.startsWith('a');
  expect([queue.take(withoutA), queue.take(any), queue.take(withoutA)]).toEqual(['b1', 'a1', 'b2']);
});

test('a removed item is not taken; removing it again does nothing', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);
  for (const item of ['a1', 'a1', 'b1']) queue.remove(item.charAt(0), item);
  expect([queue.size, queue.itemsOf('a'), queue.itemsOf('b')]).toEqual([1, ['a2'], []]);
  expect(queue.take(any)).toBe('a2');
});

test('the longest lane is the one with most items', () => {
  const queue = new FairQueue<string>();
  expect(queue.longest).toEqual([]);
  for (const item of ['a1', 'b1', 'b2']) queue.push(item.charAt(0), item);
  expect(queue.longest).toEqual(['b1', 'b2']);
});
