import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, inject, test } from 'vitest';
import {
  backgroundConnection,
  commandConnection,
  edgeConnection,
  requestConnection,
} from '../../src/lib/connection-names.ts';
import { allowedCpus } from '../../src/lib/leave-first-cpu.ts';
import { connect } from '../../src/log/connect.ts';
import { lowerSessions } from '../../src/stack/lower-sessions.ts';
import { canLeaveFirstCpu } from '../support/cpus.ts';
import { eventually } from '../support/eventually.ts';

/** Connections of these names to the embedded Postgres, which alone are lowered during `work`. */
async function withLowered<Name extends string>(
  names: Record<Name, string>,
  work: (pids: Record<Name, number>) => Promise<void>,
): Promise<void> {
  const { databaseUrl, adminDatabaseUrl } = inject('stack');
  const pools = Object.values<string>(names).map((name) => connect(databaseUrl, { max: 1, name }));
  const pids = await Promise.all(
    pools.map(async (sql) => (await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`)[0].pid),
  );
  const { port, password } = new URL(adminDatabaseUrl);
  const lowering = lowerSessions({ processes: () => pids, port: Number(port), password });
  try {
    await work(Object.fromEntries(Object.keys(names).map((name, i) => [name, pids[i]])) as Record<Name, number>);
  } finally {
    await lowering.stop();
    for (const sql of pools) await sql.end();
  }
}

/** Of the process that started the servers of the run. */
const usual = getPriority(process.ppid);

function expectNiceness(pid: number, niceness: number): void {
  expect(getPriority(pid)).toBe(Math.max(usual, niceness));
  const file = `/proc/${pid}/autogroup`;
  if (existsSync(file)) expect(readFileSync(file, 'utf8')).toContain(`nice ${niceness}`);
}

const names = {
  edge: edgeConnection,
  request: requestConnection,
  background: backgroundConnection,
  command: commandConnection,
};

test('connections of the embedded Postgres have a lower priority than redirects, without those that redirects wait for', () =>
  withLowered(names, async ({ edge, request, background, command }) => {
    // From a user other than root, Linux takes the change of one session at a time.
    await eventually(() => {
      expectNiceness(background, 10);
      expectNiceness(command, 10);
      expectNiceness(request, 5);
    });
    expectNiceness(edge, 0);
  }));

test('connections that neither redirects nor requests wait for leave one CPU to redirects', () =>
  withLowered(names, async ({ edge, request, background, command }) => {
    const before = allowedCpus(edge);
    for (const pid of [background, command])
      await eventually(() => expect(allowedCpus(pid) !== before).toBe(canLeaveFirstCpu(before)));
    for (const pid of [edge, request]) expect(allowedCpus(pid)).toBe(before);
  }));
