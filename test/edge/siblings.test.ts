import { expect, test } from 'vitest';
import type { Change } from '../../events/entry.ts';
import { createAsking, revived, type SiblingMessage } from '../../src/edge/siblings.ts';

const entry: Change = {
  type: 'code_paused',
  data: {},
  position: 7,
  id: 'evt_1',
  stream: 'qr_1',
  version: 2,
  actor: 'operator',
  occurred_at: new Date('2026-01-02T03:04:05.678Z'),
};

const changed = { kind: 'changed' as const, entries: [entry] };

test('a change waits until all peer processes have confirmed it', async () => {
  const asking = createAsking();
  const sent: SiblingMessage[] = [];
  const sibling = { send: (message: SiblingMessage) => void sent.push(message) };
  let confirmed = false;
  const waiting = asking.ask(changed, [sibling, sibling]).then(() => {
    confirmed = true;
  });
  for (const message of sent) {
    expect(confirmed).toBe(false);
    if (message.kind === 'changed') asking.answered({ kind: 'answer', id: message.id });
  }
  await waiting;
  expect(sent).toHaveLength(2);
});

test('a peer process that has died or does not answer does not fail the change', async () => {
  const asking = createAsking();
  const dead = {
    send() {
      throw new Error('the channel is closed');
    },
  };
  const deaf = { send() {} };
  expect(await asking.ask(changed, [dead, deaf])).toEqual([]);
  asking.answered({ kind: 'answer', id: 1_000_000 });
});

test('entries are the same after they are sent to another process', () => {
  expect(revived(JSON.parse(JSON.stringify([entry])))).toEqual([entry]);
});
