import { expect, test } from 'vitest';
import type { Change } from '../../events/entry.ts';
import { type PeerMessage, PeerRequests, reviveEntries } from '../../src/service/peers.ts';
import { useTimeouts } from '../support/timeouts.ts';

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

// For the peer that does not answer.
useTimeouts({ peerMs: 10 });

const changed = { kind: 'changed' as const, entries: [entry] };

test('a change waits until all peer processes have confirmed it', async () => {
  const requests = new PeerRequests();
  const sent: PeerMessage[] = [];
  const peer = { send: (message: PeerMessage) => void sent.push(message) };
  let confirmed = false;
  const waiting = requests.send(changed, [peer, peer]).then(() => {
    confirmed = true;
  });
  for (const message of sent) {
    expect(confirmed).toBe(false);
    if (message.kind === 'changed') requests.receive({ kind: 'response', id: message.id });
  }
  await waiting;
  expect(sent).toHaveLength(2);
});

test('a peer process that has died or does not answer does not fail the change', async () => {
  const requests = new PeerRequests();
  const dead = {
    send() {
      throw new Error('the channel is closed');
    },
  };
  const silent = { send() {} };
  expect(await requests.send(changed, [dead, silent])).toEqual([]);
  requests.receive({ kind: 'response', id: 1_000_000 });
});

test('entries are the same after they are sent to another process', () => {
  expect(reviveEntries(JSON.parse(JSON.stringify([entry])))).toEqual([entry]);
});
