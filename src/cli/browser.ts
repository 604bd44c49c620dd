import { existsSync } from 'node:fs';
import { print } from './terminal.ts';

const knownPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const succeeds = async (command: string[]): Promise<boolean> => {
  try {
    const child = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] });
    return (await child.exited) === 0;
  } catch {
    return false;
  }
};

/** Finds Chromium for test/browser, or installs it with apt-get where that is possible. */
export async function findBrowser(): Promise<string | undefined> {
  const installed = () => knownPaths.find((path) => existsSync(path));
  if (installed() !== undefined || Bun.which('apt-get') === null) return installed();
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
  print('Installing Chromium for the browser tests (once) …');
  if (await succeeds([...apt, 'update']))
    await succeeds([...apt, 'install', '-y', '--no-install-recommends', 'chromium']);
  return installed();
}
