import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { print } from './terminal.ts';

const headless = 'chromium-headless-shell';
const installedPaths = [headless, 'chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`);
/** Fetched by ./scanlog. It runs only where the libraries of Chromium are installed. */
const fetchedPath = join(import.meta.dirname, '../../.tools/chromium', headless);

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
  if (await succeeds([fetchedPath, '--version'])) return fetchedPath;
  const installed = () => installedPaths.find((path) => existsSync(path));
  if (installed() !== undefined || Bun.which('apt-get') === null) return installed();
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
  print('Installing Chromium for the browser tests (once) …');
  if (await succeeds([...apt, 'update']))
    await succeeds([...apt, 'install', '-y', '--no-install-recommends', headless]);
  return installed();
}
