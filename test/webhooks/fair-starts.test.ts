import { expect, test } from 'vitest';
import { FairStarts, type Sender } from '../../src/webhooks/fair-starts.ts';

/** Starts that are made by `turn`, and their order. */
function given() {
  const turns: (() => void)[] = [];
  const started: string[] = [];
  const starts = new FairStarts((turn) => turns.push(turn));
  const sender = (account: string, name: string, requests: number): Sender => {
    let left = requests;
    return {
      account,
      startNext() {
        if (left === 0) return false;
        left--;
        started.push(name);
        return left > 0;
      },
    };
  };
  /** The next turn of the event loop; returns what it has started. */
  const turn = (): string[] => {
    expect(turns, 'one turn is scheduled').toHaveLength(1);
    turns.pop()?.();
    return started.splice(0);
  };
  return { starts, sender, turn, isIdle: () => turns.length === 0 };
}

test('an account with many webhooks and one with a single webhook start the same number of requests', () => {
  const { starts, sender, turn } = given();
  for (const name of ['a1', 'a2', 'a3']) starts.add(sender('a', name, 100));
  starts.add(sender('b', 'b1', 100));
  expect(turn()).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1', 'b1']);
  expect(turn().filter((name) => name === 'b1')).toHaveLength(4);
});

test('what one account does not use is for the others, until nothing is left', () => {
  const { starts, sender, turn, isIdle } = given();
  starts.add(sender('a', 'a1', 12));
  starts.add(sender('b', 'b1', 1));
  expect(turn()).toEqual(['a1', 'b1', ...Array(6).fill('a1')]);
  expect(turn()).toEqual(Array(5).fill('a1'));
  expect(isIdle()).toBe(true);
});

test('a sender is in the queue once, and again when it is added after its last start', () => {
  const { starts, sender, turn, isIdle } = given();
  const [one, none] = [sender('a', 'a1', 2), sender('b', 'b1', 0)];
  for (const added of [one, one, none]) starts.add(added);
  expect(turn()).toEqual(['a1', 'a1']);
  expect(isIdle()).toBe(true);
  starts.add(one);
  expect(turn(), 'it has nothing to start').toEqual([]);
  expect(isIdle()).toBe(true);
});

test('a sender that is added while it starts a request does not wait twice', () => {
  const { starts, turn, isIdle } = given();
  let requests = 0;
  const eager: Sender = {
    account: 'a',
    startNext() {
      starts.add(eager);
      return ++requests < 3;
    },
  };
  starts.add(eager);
  turn();
  expect(requests).toBe(3);
  expect(isIdle()).toBe(true);
});
