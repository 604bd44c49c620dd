import { readHost } from '../../events/hosts.ts';
import { block, listBlockedHosts, unblock } from '../codes/blocked-hosts.ts';
import { StartError } from '../lib/errors.ts';
import { withDatabase } from './connection.ts';
import { print, printJson, table } from './terminal.ts';

interface Options {
  data: string;
  json?: boolean;
}

function hostOf(text: string): string {
  const host = readHost(text);
  if (host === undefined)
    throw new StartError(`${text} is not a host: give one such as example.com, without https://.`);
  return host;
}

export async function destinationsBlock(text: string, { data, json }: Options): Promise<void> {
  const host = hostOf(text);
  await withDatabase(data, (sql) => block(sql, host, new Date()));
  if (json) return printJson({ host, blocked: true });
  print(`${host} and its subdomains are blocked: no code can be pointed there, and links that lead there answer 410.`);
}

export async function destinationsUnblock(text: string, { data, json }: Options): Promise<void> {
  const host = hostOf(text);
  await withDatabase(data, async (sql) => {
    const blocked = await listBlockedHosts(sql);
    if (!blocked.some((one) => one.host === host))
      throw new StartError(`${host} is not blocked: run ./scanlog destinations list to see blocked hosts.`);
    await unblock(sql, host, new Date());
  });
  if (json) return printJson({ host, blocked: false });
  print(`${host} is no longer blocked.`);
}

export async function destinationsList({ data, json }: Options): Promise<void> {
  const blocked = (await withDatabase(data, listBlockedHosts)).map(({ host, blocked_at }) => ({
    host,
    blocked_at: blocked_at.toISOString(),
  }));
  if (json) return printJson(blocked);
  if (blocked.length === 0) return void print('No host is blocked.');
  print(table([['HOST', 'BLOCKED SINCE'], ...blocked.map(({ host, blocked_at }) => [host, blocked_at])]));
}
