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

test('whoever changed something waits until all siblings have heard it', async () => {
  const asking = createAsking();
  const sent: SiblingMessage[] = [];
  const sibling = { send: (message: SiblingMessage) => void sent.push(message) };
  let told = false;
  const waiting = asking.ask(changed, [sibling, sibling]).then(() => {
    told = true;
  });
  for (const message of sent) {
    expect(told).toBe(false);
    if (message.kind === 'changed') asking.answered({ kind: 'answer', id: message.id });
  }
  await waiting;
  expect(sent).toHaveLength(2);
});

test('one that has died, or does not answer, does not fail the change', async () => {
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

test('what comes from another process is what was sent', () => {
  expect(revived(JSON.parse(JSON.stringify([entry])))).toEqual([entry]);
});
