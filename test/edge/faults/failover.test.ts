import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withFailover } from '../../../bench/chaos/faults.ts';
import { outcomesOf, type ScannedCode, startScanning } from '../../../bench/chaos/scanner.ts';
import type { World } from '../../../bench/chaos/world.ts';
import { headOfLog } from '../../../src/log/read.ts';
import { connectOnce } from '../../../src/stream/connect.ts';
import { endOf } from '../../../src/stream/jetstream.ts';
import { apiClient } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { expectAllAgree } from '../../support/verified.ts';
import { expectExact, knownCodes, untilSeen, useWorld, withoutBackground } from './fault-support.ts';

const world = useWorld([{}, withoutBackground], { withWarehouse: true, withWebhook: true });
const ports = () => world.services.map(({ port }) => port);

/** Waits until the log, the counters, the warehouse and the deliveries agree. */
const expectAgreement = async ({ sql, clickhouse }: World) => {
  if (clickhouse === undefined) throw new Error('this world has no warehouse');
  await expectAllAgree(sql, clickhouse.warehouse);
};

const destinationsOf = ({ shortCode }: ScannedCode) =>
  Promise.all(
    ports().map(async (port) => {
      const { status, headers } = await fetch(`http://localhost:${port}/${shortCode}`, { redirect: 'manual' });
      return headers.get('location') ?? status;
    }),
  );

/** Waits until the stream has the log up to `position`. */
async function untilRelayed(position: number): Promise<void> {
  const nats = await connectOnce(world.proxies.nats.url, 'test');
  const manager = await nats.jetstreamManager();
  await eventually(async () =>
    expect((await endOf(manager, 'scanlog')).position, 'the end of the stream').toBeGreaterThanOrEqual(position),
  ).finally(() => nats.close());
}

test('primary killed with -9 under load, synchronous replica promoted: every scan redirects and is stored once', async () => {
  const scanner = startScanning({ ports: ports(), codes: await knownCodes(world, 3, ports()) });
  await untilSeen(scanner, 302, 50);
  await withFailover(world, () => untilSeen(scanner, 302, 50));
  await untilSeen(scanner, 302, 50);
  await scanner.stop();
  expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
  const { redirected, logged } = await expectExact(world, scanner.attempts);
  expect(logged).toBe(redirected);
  await expectAgreement(world);
});

test('asynchronous replica promoted without the last events: the service detects it and converges on the log', async () => {
  const [changed] = await world.codes(1);
  if (changed === undefined) throw new Error('no code');
  const before = startScanning({ ports: ports(), codes: await world.codes(3) });
  await untilSeen(before, 302, 50);
  await world.postgres.addReplica('asynchronous');
  await untilSeen(before, 302, 25);
  expect(await destinationsOf(changed)).toEqual(['https://example.com/chaos', 'https://example.com/chaos']);

  await world.postgres.isolateReplica();
  const { patch } = apiClient(`http://localhost:${ports()[0]}`, world.key);
  const destination_url = 'https://example.com/lost';
  expect((await patch(`/v1/qrcodes/${changed.id}`, { destination_url })).status).toBe(200);
  const [created] = await world.codes(1);
  if (created === undefined) throw new Error('no code');
  await eventually(async () => expect(await destinationsOf(changed)).toEqual([destination_url, destination_url]));
  await destinationsOf(created);
  await untilSeen(before, 302, 75);
  await untilRelayed(await headOfLog(world.sql));
  // Under load, so that the new primary reuses the lost positions before the relay compares log and stream.
  await world.postgres.failOver(() => untilSeen(before, 302, 25));
  await untilSeen(before, 302, 75);
  await before.stop();

  await eventually(async () => {
    expect(await destinationsOf(changed), 'the destination in the log').toEqual([
      'https://example.com/chaos',
      'https://example.com/chaos',
    ]);
    expect(await destinationsOf(created), 'its creation was lost').toEqual([404, 404]);
  });
  await eventually(() => {
    const logs = world.services.map(({ logFile }) => readFileSync(logFile, 'utf8')).join('');
    // Detected by the relay, or by a projection that is ahead of the log.
    expect(logs).toMatch(/the log has lost events that the stream has|ahead of the log, which has lost events/);
  });
  const after = startScanning({ ports: ports(), codes: await world.codes(3) });
  await untilSeen(after, 302, 50);
  await after.stop();
  await expectExact(world, after.attempts);
  await expectAgreement(world);
});
