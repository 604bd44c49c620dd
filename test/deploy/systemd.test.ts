import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../support/programs.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'scanlog-units-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Part of systemd, which a container does not have: there, only the files are read. */
const analyze = '/usr/bin/systemd-analyze';

describe('deploy/systemd', () => {
  const source = join(checkout, 'deploy/systemd');
  const units = readdirSync(source);

  test('has the service with what docs/deploy.md says about it', () => {
    const service = readFileSync(join(source, 'scanlog.service'), 'utf8');
    expect(service).toContain('EnvironmentFile=/etc/scanlog/scanlog.env');
    // EDGE_DIR must survive a restart, with serve as with up.
    expect(service).toMatch(/up --data \/var\/lib\/scanlog" EDGE_DIR=\/var\/lib\/scanlog\/edges/);
    expect(service).toContain('StateDirectory=scanlog');
  });

  test.each(existsSync(analyze) ? units : [])('%s passes systemd-analyze verify', (unit) => {
    cpSync(source, folder, { recursive: true });
    for (const name of units) {
      const text = readFileSync(join(source, name), 'utf8');
      writeFileSync(join(folder, name), text.replaceAll('/opt/scanlog/', checkout));
    }
    const { status, output } = runProgram(analyze, ['verify', join(folder, unit)]);
    expect([status, output]).toEqual([0, '']);
  });
});
