import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { withPauseBetweenNotifications } from '../../src/stack/clickhouse/wasm-notify.ts';

const installed = readFileSync(createRequire(import.meta.url).resolve('chdb-wasm/chdb.wasm'));

test('the installed engine has the loop, which gets a pause of 14 bytes', () => {
  const patched = withPauseBetweenNotifications(installed);
  expect(patched?.length).toBe(installed.length + 14);
});

test('a module without the loop is left as it is', () => {
  const patched = withPauseBetweenNotifications(installed) ?? Buffer.alloc(0);
  expect(withPauseBetweenNotifications(patched), 'it has a pause already').toBeUndefined();
  expect(withPauseBetweenNotifications(Buffer.from('0061736d01000000', 'hex')), 'an empty module').toBeUndefined();
});
