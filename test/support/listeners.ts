import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Listener {
  /** As the kernel writes it: hexadecimal, in its own byte order. */
  address: string;
  port: number;
}

/** What Linux tells of a process; nothing when it has just ended. */
function told<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

const parentOf = (pid: number) =>
  told(() => Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]), 0);

export const environmentOf = (pid: number) =>
  told(() => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'), [] as string[]);

/** A process and all that it has started. */
export function familyOf(pid: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(Number(name))]),
  );
  const below = (parent: number): number[] =>
    [...parents].flatMap(([child, of]) => (of === parent ? [child, ...below(child)] : []));
  return [pid, ...below(pid)];
}

/** The TCP ports that a process listens on. */
export function listenersOf(pid: number): Listener[] {
  const sockets = new Set(
    told(() => readdirSync(`/proc/${pid}/fd`), [] as string[]).map((fd) =>
      told(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1], undefined),
    ),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    told(() => readFileSync(`/proc/${pid}/net/${table}`, 'utf8'), '')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(inode))
      .map(([, local = '']) => {
        const [address = '', port = ''] = local.split(':');
        return { address, port: Number.parseInt(port, 16) };
      }),
  );
}

/** 127.0.0.1, ::1, or 127.0.0.1 in the form of IPv6. */
export const isLoopback = (address: string) =>
  /^(0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F)$/.test(address);
