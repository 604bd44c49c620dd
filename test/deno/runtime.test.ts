import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { deno } from '../support/deno.ts';

const database = useDatabase();
const root = fileURLToPath(new URL('../../', import.meta.url));
const program = fileURLToPath(new URL('exercise.ts', import.meta.url));

// Nothing is fetched: packages come from node_modules, and the only network access is to Postgres.
const offline = ['run', '--no-lock', '--no-config', '--no-remote', '--node-modules-dir=manual', '--cached-only'];
const allowed = ['--allow-read', '--allow-env', '--allow-sys', '--allow-net=127.0.0.1'];

async function exercise(command: string, args: string[]) {
  const { stdout } = await promisify(execFile)(command, [...args, program], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: database.url, NO_COLOR: '1' },
  });
  return JSON.parse(stdout);
}

describe('on Deno', () => {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the program has printed
  let onDeno: any;
  beforeAll(async () => {
    onDeno = await exercise(deno, [...offline, ...allowed]);
  });

  test('every module of events, projections, the log and QR images can be imported', () => {
    expect(onDeno.imported).toEqual(
      expect.arrayContaining(['events/code.ts', 'projections/state.ts', 'src/log/append.ts', 'src/qr/svg.ts']),
    );
    expect(onDeno.imported.length).toBeGreaterThanOrEqual(20);
  });

  test('the log is appended and read, and state is written, in a real Postgres', () => {
    expect(onDeno.log).toMatchObject({
      migrations: [],
      again: 'version taken',
      row: { name: 'Café 楽', status: 'draft', style: { dotsType: 'dots' }, created_at: '2026-03-01T09:30:00.000Z' },
      sameStream: true,
      sameLog: true,
    });
  });

  test('all results are the same as on Bun', async () => {
    expect(onDeno).toEqual(await exercise(process.execPath, []));
  });
});
