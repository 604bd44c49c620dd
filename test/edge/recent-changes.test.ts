import { expect, test } from 'vitest';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { Route } from '../../projections/routes.ts';
import { recentChanges } from '../../src/edge/recent-changes.ts';
import { manualTimers } from '../support/timers.ts';

const route: Route = {
  code: 'qr_1',
  account: 'acct_1',
  mode: 'live',
  short_code: 'menu',
  destination_url: 'https://example.com/1',
  revision: 1,
  status: 'active',
  disabled: false,
  version: 1,
  sealed_key: new Uint8Array(),
};

const changed = (version: number, url: string, stream = 'qr_1'): Recorded<CodeEvent> => ({
  type: 'destination_changed',
  data: { from: 'https://example.com/', to: url, revision: version },
  id: `evt_${version}`,
  stream,
  version,
  actor: 'key_1',
  occurred_at: new Date(),
  position: version,
});

test('beyond the limit in bytes, a route that was read before a change is read again instead of changed', () => {
  const changes = recentChanges(manualTimers(), 10_000);
  const large = `https://example.com/${'x'.repeat(2_000)}`;
  changes.add(changed(2, large));
  expect(changes.appliedTo(route)).toMatchObject({ version: 2, destination_url: large });
  for (const stream of ['qr_2', 'qr_3', 'qr_4']) changes.add(changed(2, large, stream));
  expect(changes.appliedTo(route), 'its events are not kept').toBeUndefined();
  expect(changes.appliedTo({ ...route, version: 2 }), 'it has them already').toMatchObject({ version: 2 });
  expect(changes.appliedTo({ ...route, code: 'qr_4' })).toMatchObject({ version: 2 });
  changes.add(changed(3, 'https://example.com/3'));
  expect(changes.appliedTo({ ...route, version: 2 })).toMatchObject({ destination_url: 'https://example.com/3' });
  expect(changes.appliedTo(route)).toBeUndefined();
});

test('a code that was created is forgotten after 30 s, also if its events were removed before', () => {
  const timers = manualTimers();
  const changes = recentChanges(timers, 10_000);
  const { data: _, ...rest } = changed(1, '');
  const data = { short_code: 'menu', name: 'x'.repeat(6_000), is_given: true };
  changes.add({ ...rest, type: 'code_created', data } as unknown as Recorded<CodeEvent>);
  expect(changes.appliedTo({ ...route, version: 0 }), 'its events are not kept').toBeUndefined();
  expect([changes.createdExactly('menu'), changes.created('MENU')]).toEqual([true, true]);
  timers.advance(30_000);
  changes.add(changed(2, 'https://example.com/', 'qr_2'));
  expect([changes.createdExactly('menu'), changes.created('MENU')]).toEqual([false, false]);
});
