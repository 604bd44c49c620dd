import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Listener {
  /** As in /proc/net/tcp: hexadecimal, in host byte order. */
  address: string;
  port: number;
}

/** Reads from /proc; returns `fallback` if the process has just exited. */
function readProc<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}

const parentOf = (pid: number) =>
  readProc(() => Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]), 0);

export const environmentOf = (pid: number) =>
  readProc(() => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'), [] as string[]);

/** A process and all its descendants. */
export function processTreeOf(pid: number): number[] {
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
    readProc(() => readdirSync(`/proc/${pid}/fd`), [] as string[]).map((fd) =>
      readProc(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1], undefined),
    ),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    readProc(() => readFileSync(`/proc/${pid}/net/${table}`, 'utf8'), '')
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

/** 127.0.0.1, ::1 or ::ffff:127.0.0.1. */
export const isLoopback = (address: string) =>
  /^(0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F)$/.test(address);
