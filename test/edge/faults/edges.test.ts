import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openConnection } from '../../../bench/chaos/connection.ts';
import { withoutNats, withoutPostgres } from '../../../bench/chaos/faults.ts';
import { outcomesOf, type ScannedCode, startScanning } from '../../../bench/chaos/scanner.ts';
import { readSnapshots } from '../../../src/edge/snapshot.ts';
import { apiClient } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { atOnce } from '../../support/http.ts';
import { expectExact, knownCodes, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{}], { flags: ['--edges', '2'] });
const port = () => world.services[0]?.port ?? 0;

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The pids of the running processes that have locked a folder, in the order of the folders. */
const edges = () =>
  readdirSync(world.edgeFolder)
    .filter((name) => /^edge-\d+$/.test(name))
    .sort()
    .flatMap((folder) => readdirSync(`${world.edgeFolder}/${folder}`))
    .flatMap((name) => /^(\d+)-.*\.lock$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter(isRunning);

const untilBothRun = () => eventually(() => expect(new Set(edges()).size, 'running edges').toBe(2));

describe('two edges on one port', () => {
  test('one killed with -9 under load is restarted; every 302 is exactly one scan', async () => {
    await untilBothRun();
    // Several times, so that both edges get a request.
    const codes = await knownCodes(world, 2, Array.from({ length: 8 }, port));
    const scanner = startScanning({ ports: [port()], codes, connections: 32 });
    await untilSeen(scanner, 302, 200);
    const [, child] = edges();
    if (child === undefined) throw new Error('there is no second edge');
    process.kill(child, 'SIGKILL');
    await untilSeen(scanner, 302, 200);
    await eventually(() => {
      expect(edges(), 'a new process has replaced it').not.toContain(child);
      expect(new Set(edges()).size).toBe(2);
    });
    await untilSeen(scanner, 302, 200);
    await scanner.stop();

    expect(
      [...outcomesOf(scanner.attempts).keys()].filter((outcome) => outcome !== 302 && outcome !== 'no answer'),
    ).toEqual([]);
    await expectExact(world, scanner.attempts);
  });

  test('one killed with -9: a limit is still exact over both', async () => {
    await untilBothRun();
    const max_scans = 400;
    const { post, get } = apiClient(`http://localhost:${port()}`, world.key);
    const destination_url = 'https://example.com/menu';
    // A process that has just been started again may still answer 503.
    const { body } = await eventually(async () => {
      const created = await post('/v1/qrcodes', { name: 'Limited', destination_url, max_scans });
      expect(created.status).toBe(201);
      return created;
    });
    const codes = [{ id: body.id, shortCode: body.short_code }];
    const scanner = startScanning({ ports: [port()], codes, connections: 32, pauseMs: 1 });
    await untilSeen(scanner, 302, 100);
    const [, child] = edges();
    if (child === undefined) throw new Error('there is no second edge');
    process.kill(child, 'SIGKILL');
    await untilSeen(scanner, 404, 50);
    await untilBothRun();
    await untilSeen(scanner, 404, 50);
    await scanner.stop();

    const stored = await world.sql`SELECT FROM scans WHERE code = ${body.id}`;
    expect(stored).toHaveLength(max_scans);
    // The new process may still be starting.
    await eventually(async () =>
      expect((await get(`/v1/qrcodes/${body.id}`)).body).toMatchObject({
        availability: 'limit_reached',
        remaining_scans: 0,
      }),
    );
    const outcomes = outcomesOf(scanner.attempts);
    expect(
      [...outcomes.keys()].filter((outcome) => outcome !== 302 && outcome !== 404 && outcome !== 'no answer'),
    ).toEqual([]);
    // A redirect that the killed process has counted may not have reached its client.
    const redirected = outcomes.get(302) ?? 0;
    expect(redirected).toBeLessThanOrEqual(max_scans);
    expect(redirected + (outcomes.get('no answer') ?? 0)).toBeGreaterThanOrEqual(max_scans);
  });

  test('after the response to a change, neither process serves the old state', async () => {
    await untilBothRun();
    const [code] = await world.codes(1);
    if (code === undefined) throw new Error('no code');
    const { patch } = apiClient(`http://localhost:${port()}`, world.key);
    // New connections are spread over both processes.
    const scan = async () => {
      const connection = openConnection(port());
      return connection.get(`/${code.shortCode}`, {}).finally(connection.close);
    };
    await atOnce(20, scan);
    for (let round = 0; round < 10; round++) {
      const active = round % 2 === 1;
      expect((await patch(`/v1/qrcodes/${code.id}`, { active })).status).toBe(200);
      const statuses = new Set(await atOnce(20, scan));
      expect([...statuses], `round ${round}: active is ${active}`).toEqual([active ? 302 : 404]);
    }
  });
});

describe('two edges, restarted', () => {
  const service = () => {
    const [only] = world.services;
    if (only === undefined) throw new Error('no service');
    return only;
  };
  const snapshotHas = (codes: ScannedCode[]) =>
    eventually(async () => {
      const written = new Set(
        [...(await readSnapshots(world.edgeFolder, world.box)).routes].map(({ short_code }) => short_code),
      );
      for (const { shortCode } of codes) expect(written).toContain(shortCode);
    });

  test.each([
    ['Postgres', withoutPostgres],
    ['NATS', withoutNats],
  ])(
    'while %s is down: both run and redirect, and continue when it is back',
    async (_, without) => {
      await untilBothRun();
      const codes = await world.codes(2);
      const scanner = startScanning({ ports: [port()], codes, connections: 16 });
      await untilSeen(scanner, 302, 100);
      await snapshotHas(codes);
      await without(world, async () => {
        const before = new Set(edges());
        await service().kill();
        await service().start(false);
        await eventually(() => {
          // A process briefly has two folders while it sends the spool of an earlier edge.
          const started = new Set(edges()).difference(before);
          expect(started.size, 'two new processes, while it is still down').toBe(2);
        });
        await untilSeen(scanner, 302, 200);
      });
      await untilSeen(scanner, 302, 100);
      await scanner.stop();
      await expectExact(world, scanner.attempts);
    },
    120_000,
  );
});
