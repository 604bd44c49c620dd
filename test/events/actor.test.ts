import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { actorParts, clientActor, clientName, isDoneBy, ownActorPattern } from '../../events/actor.ts';

describe('the name of a client', () => {
  test.each([
    ['claude-code', 'claude-code'],
    ['Visual Studio Code', 'visual-studio-code'],
    ['Claude Code (beta)', 'claude-code-beta'],
    ['Café 1.2', 'cafe-1.2'],
    ['  /../operator/ ', 'operator'],
    ['key_1/x', 'key_1-x'],
    ['x'.repeat(1_000), 'x'.repeat(40)],
  ])('%j becomes %j', (given, name) => {
    expect(clientName(given)).toBe(name);
  });

  test.each(['', '///', '客户端', '\u0000'])('%j has nothing that can be used', (given) => {
    expect(clientName(given)).toBeUndefined();
  });

  test('makes an actor that has the key and the name in it, whatever a client calls itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (given) => {
        const client = clientName(given);
        if (client === undefined) return;
        const actor = clientActor('key_1', client);
        expect(actor).toMatch(new RegExp(ownActorPattern));
        expect(actorParts(actor)).toEqual({ id: 'key_1', client });
      }),
    );
  });
});

test('what a client did was done by its key, and by no other key or client', () => {
  expect(isDoneBy('key_1/a', 'key_1')).toBe(true);
  expect(isDoneBy('key_1/a', 'key_1/a')).toBe(true);
  expect(isDoneBy('key_1', 'key_1/a')).toBe(false);
  expect(isDoneBy('key_1/ab', 'key_1/a')).toBe(false);
  expect(isDoneBy('key_11/a', 'key_1')).toBe(false);
  expect(actorParts('operator')).toEqual({ id: 'operator', client: undefined });
});
