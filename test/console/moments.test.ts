import { expect, test } from 'vitest';
import { momentsOf } from '../../src/console/app/code/moments.ts';

test('what one request changed is one step of the time machine, with the last version; oldest first', () => {
  const entry = (version: number, minute: number, key_id = 'key_1') => ({
    id: `evt_${version}`,
    event: 'code_renamed',
    version,
    timestamp: `2026-03-01T09:0${minute}:00.000Z`,
    field: 'name',
    from: null,
    to: null,
    key_id,
    actor: key_id,
    actor_name: null,
  });
  const history = [entry(5, 2, 'key_2'), entry(4, 2), entry(3, 1), entry(2, 1), entry(1, 0)];
  expect(momentsOf(history).map(({ version, changes }) => [version, changes.map((change) => change.version)])).toEqual([
    [1, [1]],
    [3, [2, 3]],
    [4, [4]],
    [5, [5]],
  ]);
  expect(momentsOf([])).toEqual([]);
});
