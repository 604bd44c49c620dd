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
import { canLeaveFirstCpu } from '../support/cpus.ts';
import { eventually } from '../support/eventually.ts';

/** A connection of this name to the embedded Postgres. */
async function open(name: string) {
  const sql = connect(inject('stack').databaseUrl, { max: 1, name });
  const [{ pid }] = await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
  return { pid, close: () => sql.end() };
}

/** Of the process that started the servers of the run. */
const usual = getPriority(process.ppid);

function expectNiceness(pid: number, niceness: number): void {
  expect(getPriority(pid)).toBe(Math.max(usual, niceness));
  const file = `/proc/${pid}/autogroup`;
  if (existsSync(file)) expect(readFileSync(file, 'utf8')).toContain(`nice ${niceness}`);
}

test('connections of the embedded Postgres have a lower priority than redirects, without those that redirects wait for', async () => {
  const edge = await open(edgeConnection);
  const request = await open(requestConnection);
  const other = await open(backgroundConnection);
  try {
    // From a user other than root, Linux takes the change of one session at a time.
    await eventually(() => {
      expectNiceness(other.pid, 10);
      expectNiceness(request.pid, 5);
    });
    expectNiceness(edge.pid, 0);
  } finally {
    for (const { close } of [edge, request, other]) await close();
  }
});

test('connections of commands leave one CPU to redirects', async () => {
  const edge = await open(edgeConnection);
  const command = await open(commandConnection);
  try {
    const before = allowedCpus(edge.pid);
    await eventually(() => {
      expectNiceness(command.pid, 10);
      expect(allowedCpus(command.pid) !== before).toBe(canLeaveFirstCpu(before));
    });
    expect(allowedCpus(edge.pid)).toBe(before);
  } finally {
    for (const { close } of [edge, command]) await close();
  }
});
