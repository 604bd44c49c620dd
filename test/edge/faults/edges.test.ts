import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { openConnection } from '../../../bench/chaos/connection.ts';
import { withoutNats, withoutPostgres, withPostgresFrozen } from '../../../bench/chaos/faults.ts';
import { outcomesOf, type ScannedCode, type Scanner, startScanning } from '../../../bench/chaos/scanner.ts';
import type { ServiceProcess } from '../../../bench/chaos/service-process.ts';
import { readSnapshots } from '../../../src/edge/snapshot.ts';
import { apiClient, created } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { atOnce } from '../../support/http.ts';
import { expectExact, knownCodes, untilSeen, useWorld, withoutBackground } from './fault-support.ts';

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

const parentOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);

/** The edge that the first process of the service has started. */
function childEdge(): number {
  const child = edges().find((pid) => parentOf(pid) === world.services[0]?.pid());
  if (child === undefined) throw new Error('there is no second edge');
  return child;
}

/** How many processes listen on the port (0A is LISTEN). */
const listeners = (port: number) =>
  readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === '0A' && Number.parseInt(local?.split(':')[1] ?? '', 16) === port).length;

/** A process listens when it can answer everything, unless it cannot reach Postgres or NATS. */
const untilBothListen = (at = port()) => eventually(() => expect(listeners(at), 'processes that listen').toBe(2));

/**
 * Requests the API without a key, on new connections, which may reach any process, until stopped; resolves to the statuses.
 * Each request waits for a scan, which limits the load.
 */
function requestWithoutKey(scanner: Scanner): () => Promise<Set<number>> {
  const statuses = new Set<number>();
  let stopping = false;
  const requesting = (async () => {
    for (let client = 0; !stopping; client++) {
      const connection = openConnection(port());
      const headers = { 'x-forwarded-for': `10.255.${client >> 8}.${client & 255}` };
      // A process that is killed does not answer what it has received.
      const status = await connection.get('/v1/account', headers).catch(() => undefined);
      connection.close();
      if (status !== undefined) statuses.add(status);
      await untilSeen(scanner, 302, 1);
    }
  })();
  return async () => {
    stopping = true;
    await requesting;
    return statuses;
  };
}

const othersThan = (scanner: Scanner, expected: (number | 'no response')[]) =>
  [...outcomesOf(scanner.attempts).keys()].filter((outcome) => !expected.includes(outcome));

describe('two edges on one port', () => {
  test('one killed with -9 under load is restarted; every 302 is exactly one scan, and a limit is exact over both', async () => {
    await untilBothListen();
    // Several times, so that both edges get a request.
    const codes = await knownCodes(world, 2, Array.from({ length: 8 }, port));
    const max_scans = 200;
    const api = apiClient(`http://localhost:${port()}`, world.key);
    const limited = await created(api, { max_scans });
    const scanner = startScanning({ ports: [port()], codes });
    await untilSeen(scanner, 302, 50);
    // Slow enough that the limit is not reached before the process is killed.
    const limitedScanner = startScanning({
      ports: [port()],
      codes: [{ id: limited.id, shortCode: limited.short_code }],
      connections: 4,
      pauseMs: 20,
    });
    await untilSeen(limitedScanner, 302, 20);
    const child = childEdge();
    process.kill(child, 'SIGKILL');
    const stopRequests = requestWithoutKey(scanner);
    await untilSeen(scanner, 302, 50);
    await eventually(() => expect(edges(), 'a new process has replaced it').not.toContain(child));
    await untilSeen(limitedScanner, 404, 20);
    await untilBothListen();
    await untilSeen(scanner, 302, 50);
    await untilSeen(limitedScanner, 404, 20);
    expect([...(await stopRequests())], 'a process joins the port when it can answer everything').toEqual([401]);
    await Promise.all([scanner.stop(), limitedScanner.stop()]);

    expect(othersThan(scanner, [302, 'no response'])).toEqual([]);
    await expectExact(world, scanner.attempts);

    expect(await world.sql`SELECT FROM scans WHERE code = ${limited.id}`).toHaveLength(max_scans);
    expect((await api.get(`/v1/qrcodes/${limited.id}`)).body).toMatchObject({
      availability: 'limit_reached',
      remaining_scans: 0,
    });
    expect(othersThan(limitedScanner, [302, 404, 'no response'])).toEqual([]);
    // A redirect that the killed process has counted may not have reached its client.
    const outcomes = outcomesOf(limitedScanner.attempts);
    const redirected = outcomes.get(302) ?? 0;
    expect(redirected).toBeLessThanOrEqual(max_scans);
    expect(redirected + (outcomes.get('no response') ?? 0)).toBeGreaterThanOrEqual(max_scans);
  });

  test('after the response to a change, neither process serves the old state', async () => {
    await untilBothListen();
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

describe('two edges with durability disk', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    // Without its servers, a process starts the others and joins the port only after these timeouts.
    const settings = { TIMEOUT_SCALE: '1', EDGE_DURABILITY: 'disk', ...withoutBackground };
    service = await world.service(settings, ['--edges', '2']);
    await service.start();
  });

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
  ])('restarted while %s is down: both run and redirect, and continue when it is back', async (_, without) => {
    await untilBothListen(service.port);
    const codes = await world.codes(2);
    const scanner = startScanning({ ports: [service.port], codes });
    await untilSeen(scanner, 302, 25);
    await snapshotHas(codes);
    await without(world, async () => {
      const before = new Set(edges());
      await service.kill();
      await service.start(false);
      await eventually(() => {
        // A process briefly has two folders while it sends the spool of an earlier edge.
        const started = new Set(edges()).difference(before);
        expect(started.size, 'two new processes, while it is still down').toBe(2);
      });
      await untilBothListen(service.port);
      await untilSeen(scanner, 302, 50);
    });
    await untilSeen(scanner, 302, 25);
    await scanner.stop();
    await expectExact(world, scanner.attempts);
  });

  test('Postgres frozen under load that goes on: every 302 is one scan', async () => {
    await untilBothListen(service.port);
    const codes = await knownCodes(
      world,
      2,
      Array.from({ length: 4 }, () => service.port),
    );
    const scanner = startScanning({ ports: [service.port], codes, connections: 16, pauseMs: 50 });
    await untilSeen(scanner, 302, 50);
    await withPostgresFrozen(world, () => untilSeen(scanner, 302, 200));
    await untilSeen(scanner, 302, 50);
    await scanner.stop();
    const refused = [...outcomesOf(scanner.attempts).keys()].filter((outcome) => outcome !== 302);
    expect(refused, 'a code that one of the edges did not have in memory').toEqual(refused.length === 0 ? [] : [503]);
    await expectExact(world, scanner.attempts);
  });
});
