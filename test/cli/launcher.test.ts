import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openDataDirectory } from '../../src/stack/data-directory.ts';
import { natsPlan } from '../../src/stack/nats.ts';
import { conditionTimeoutMs } from '../support/limits.ts';

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-launcher-'));
  // As root, programs of a closed folder would be copied for the user that runs them.
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function program(file: string, text: string): void {
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}

const nats = (version: string) => `echo 'nats-server: v${version}'`;
const tools = 'sh cat cksum sed dirname readlink uname tail id mkdir rm mv du cut grep'.split(' ');

/** A checkout with installed packages, and a PATH with only the given programs. */
function given(programs: Record<string, string>) {
  const root = newFolder();
  copyFileSync(new URL('../../scanlog', import.meta.url), join(root, 'scanlog'));
  mkdirSync(join(root, 'node_modules'));
  mkdirSync(join(root, 'patches'));
  for (const name of ['package.json', 'package-lock.json', 'patches/one.patch', 'patches/apply.mjs'])
    writeFileSync(join(root, name), '{}');
  const sum = spawnSync('sh', ['-c', 'cat package-lock.json patches/*.patch patches/apply.mjs | cksum'], {
    cwd: root,
    encoding: 'utf8',
  });
  writeFileSync(join(root, 'node_modules/.scanlog-run'), sum.stdout);
  const bin = join(root, 'bin');
  mkdirSync(bin);
  for (const tool of tools) {
    const found = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(found, join(bin, tool));
  }
  // The launcher only sleeps between two lines of progress.
  for (const [name, text] of Object.entries({ sleep: '', ...programs })) program(join(bin, name), text);
  const run = (command = 'up') =>
    spawnSync('/bin/sh', [join(root, 'scanlog'), command], {
      encoding: 'utf8',
      env: { PATH: bin },
      timeout: conditionTimeoutMs,
    });
  return { root, run };
}

/** Lines of a fake that waits for another fake, and of that other one; each is run at least once. */
const wait = 'read -r _ <"$(dirname "$0")/gate" || true';
const open = 'mkdir "$(dirname "$0")/opened" 2>/dev/null && echo >"$(dirname "$0")/gate"';
const source = 'https://source.example';
/** A fake of npm that gets packages from `source` and runs `install`. */
const npm = (install: string) => `[ "$1" = config ] && echo '${source}/' && exit; ${install}`;
const makeGate = (root: string) => spawnSync('mkfifo', [join(root, 'bin/gate')]);

/** Fakes of apt-get and dpkg-deb that provide a package with this version; apt-get records its arguments. */
const debian = (version: string) => ({
  'apt-get': 'echo "$@" >>"$(dirname "$0")/apt-arguments"; case "$*" in *download*) : >nats-server_1.deb ;; esac',
  'dpkg-deb': `mkdir -p unpacked/usr/sbin && printf '#!/bin/sh\\n%s\\n' "${nats(version)}" >unpacked/usr/sbin/nats-server && ${join('/bin', 'chmod')} 755 unpacked/usr/sbin/nats-server`,
});

describe('./scanlog', () => {
  test('uses an installed nats-server of version 2.9 or newer', () => {
    const { run, root } = given({ 'nats-server': nats('2.10.3') });
    expect(run().stderr, 'the next step').toContain('Bun for this machine');
    expect(existsSync(join(root, '.tools'))).toBe(false);
  });

  test('names a nats-server that is too old, and installs nothing', () => {
    const { run } = given({ 'nats-server': nats('2.8.4') });
    const { stderr, status } = run();
    expect(status).toBe(1);
    expect(stderr).toContain('nats-server 2.8.4');
    expect(stderr).toContain('older than 2.9');
    expect(stderr).toContain('install it, or set NATS_URL');
  });

  test('unpacks Debian’s package into .tools, prints its version, and does not install it', () => {
    const { run, root } = given({ 'nats-server': nats('2.8.4'), ...debian('2.9.10') });
    const { stderr } = run();
    expect(stderr).toContain('nats-server 2.9.10, in .tools');
    expect(stderr, 'the next step').toContain('Bun for this machine');
    const aptArguments = readFileSync(join(root, 'bin/apt-arguments'), 'utf8');
    expect(aptArguments).toContain('download nats-server');
    expect(aptArguments).not.toMatch(/\binstall\b/);
  });

  test('rejects a package that is too old', () => {
    const { run, root } = given(debian('2.7.4'));
    const { stderr, status } = run();
    expect(status).toBe(1);
    expect(stderr).toContain('2.7.4');
    expect(stderr).toContain('install NATS 2.9 or newer');
    expect(readFileSync(join(root, 'bin/apt-arguments'), 'utf8')).not.toMatch(/\binstall\b/);
  });
});

test('./scanlog test fetches the packages of npm and of Debian at the same time', () => {
  const packages = debian('2.9.10');
  const { run, root } = given({
    ...packages,
    npm: npm(`${wait}; echo 'apt-get has started'; exit 1`),
    'apt-get': `${open}; ${packages['apt-get']}`,
  });
  makeGate(root);
  const { stderr, status } = run('test');
  expect(stderr).toContain('npm could not install the packages: apt-get has started ');
  expect(status).toBe(1);
});

describe('the size of the packages', () => {
  test.each([
    ['x86_64', 'about 1.4 GB on disk'],
    ['aarch64', 'about 0.9 GB on disk'],
  ])('on %s: %s', (machine, sentence) => {
    // npm ends after the first line of progress.
    const { run, root } = given({ npm: npm(`${wait}; exit 1`), sleep: open });
    makeGate(root);
    rmSync(join(root, 'node_modules/.scanlog-run'));
    // The link goes first: writing to it would change the program that it leads to.
    rmSync(join(root, 'bin/uname'));
    program(join(root, 'bin/uname'), `echo ${machine}`);
    const { stderr, status } = run();
    expect(stderr).toContain(`fetching packages (once, ${sentence})`);
    expect(status).toBe(1);
  });
});

describe('npm', () => {
  const node = `exec ${spawnSync('sh', ['-c', 'command -v node'], { encoding: 'utf8' }).stdout.trim()} "$@"`;
  /** Records what it has for a lock file at each installation, then goes on with `install`. */
  const recording = (install: string) =>
    npm(
      `cd "$(dirname "$0")/.."; cat npm-shrinkwrap.json >>installed 2>/dev/null || echo none >>installed; ${install}`,
    );

  /** The lines of what npm had at each installation of a package, and the last line of the launcher. */
  function installing(install: string) {
    const { root, run } = given({ npm: recording(install), node });
    copyFileSync(new URL('../../patches/addresses.mjs', import.meta.url), join(root, 'patches/addresses.mjs'));
    const packages = {
      '': { version: '1.0.0' },
      'node_modules/a': { version: '2.0.0', integrity: 'sha512-a' },
      'node_modules/a/node_modules/@s/b': { version: '3.0.0-rc.1', integrity: 'sha512-b' },
      'node_modules/c': {
        name: 'd',
        version: '4.0.0',
        integrity: 'sha512-d',
        resolved: 'known already',
      },
    };
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
    const { stderr } = run();
    expect(existsSync(join(root, 'npm-shrinkwrap.json'))).toBe(false);
    return { had: readFileSync(join(root, 'installed'), 'utf8').trim().split('\n'), stderr };
  }

  test('is given the address of each package', () => {
    const { had, stderr } = installing('echo no network; exit 1');
    expect(stderr).toContain('npm could not install the packages: no network ');
    expect(had).toHaveLength(1);
    const { packages }: { packages: Record<string, { resolved?: string }> } = JSON.parse(had[0] as string);
    expect(Object.values(packages).map(({ resolved }) => resolved)).toEqual([
      undefined,
      `${source}/a/-/a-2.0.0.tgz`,
      `${source}/@s/b/-/b-3.0.0-rc.1.tgz`,
      'known already',
    ]);
  });

  test('says why it failed in words, not where its log is', () => {
    const errors = (lines: string[]) =>
      installing(`cat <<'END'\nnpm warn old\n${lines.map((line) => `npm error${line}`).join('\n')}\nEND\nexit 1`)
        .stderr;
    const log = [' A complete log of this run can be found in: /home/a/.npm/_logs/1-debug-0.log'];
    expect(
      errors([' code E404', ' 404 Not Found - GET a@2.0.0', ' 404', ' 404 Or install a tarball.', ...log]),
    ).toContain('npm could not install the packages: 404 Not Found - GET a@2.0.0 (full output');
    const request = ' FetchError: request to a failed, reason: connect ECONNREFUSED';
    expect(errors([' code ECONNREFUSED', ' syscall connect', ' errno ECONNREFUSED', request, '', ...log])).toContain(
      `npm could not install the packages:${request} (full output`,
    );
  });

  test('asks a registry that has the packages elsewhere', () => {
    const { had, stderr } = installing('echo npm error code E404; exit 1');
    expect(stderr).toContain('npm could not install the packages: npm error code E404 ');
    expect(had).toEqual([expect.stringContaining(source), 'none']);
  });
});

test('processes that redirect collect garbage sooner, in a container as well; other commands do not', () => {
  const { root, run } = given({ 'nats-server': nats('2.10.7') });
  copyFileSync(join(root, 'node_modules/.scanlog-run'), join(root, 'node_modules/.scanlog-test'));
  for (const system of ['linux-x64', 'linux-aarch64', 'darwin-x64', 'darwin-aarch64']) {
    const folder = join(root, `node_modules/@oven/bun-${system}/bin`);
    mkdirSync(folder, { recursive: true });
    program(join(folder, 'bun'), 'export -p');
  }
  const settings = (text: string) =>
    text.match(/BUN_JSC_\w+='?[\d.]+/g)?.map((setting) => setting.replace("'", '')) ?? [];
  for (const command of ['up', 'serve', 'chaos']) expect(settings(run(command).stdout)).toHaveLength(3);
  expect(settings(run('verify').stdout)).toEqual([]);
  const inContainer = readFileSync(new URL('../../deploy/container/scanlog', import.meta.url), 'utf8');
  expect(settings(inContainer).sort()).toEqual(settings(run('serve').stdout).sort());
});

test('a nats-server on the PATH that is too old is skipped for a newer one', async () => {
  const [older, newer] = [newFolder(), newFolder()];
  program(join(older, 'nats-server'), nats('2.8.4'));
  program(join(newer, 'nats-server'), nats('2.12.0'));
  const before = process.env['PATH'];
  process.env['PATH'] = `${older}:${newer}:${before}`;
  try {
    const plan = natsPlan({ data: openDataDirectory(newFolder()), port: 1, password: 'x' });
    const { command, args } = await plan.launch();
    expect([command, ...args], 'as root, after setpriv').toContain(join(newer, 'nats-server'));
  } finally {
    process.env['PATH'] = before;
  }
});
