import { existsSync } from 'node:fs';
import { say } from './terminal.ts';

const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const succeeds = async (command: string[]): Promise<boolean> => {
  try {
    const child = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] });
    return (await child.exited) === 0;
  } catch {
    return false;
  }
};

/** A Chromium for the tests that look at pages: the machine's, or Debian's where it can be installed. */
export async function findBrowser(): Promise<string | undefined> {
  const here = () => known.find((path) => existsSync(path));
  if (here() !== undefined || Bun.which('apt-get') === null) return here();
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
  say('Installing Chromium for the tests that look at pages, once …');
  if (await succeeds([...apt, 'update']))
    await succeeds([...apt, 'install', '-y', '--no-install-recommends', 'chromium']);
  return here();
}
