import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { openSpool, type Spool, type SpoolEvent, type SpoolOptions } from '../../src/edge/spool.ts';

export const HEADER_BYTES = 20;
export const FRAME_BYTES = 12;

/** A record that tells its number and can be told from one whose bytes are wrong. */
export function numbered(number: number, length = 40): Buffer {
  const record = Buffer.alloc(Math.max(length, 4), number % 251);
  record.writeUInt32LE(number);
  return record;
}

export function numberOf(record: Uint8Array): number {
  const number = Buffer.from(record).readUInt32LE();
  if (!numbered(number, record.length).equals(record)) throw new Error(`record ${number} is not what was appended`);
  return number;
}

/** Takes everything out of a spool. */
export async function drain(spool: Spool): Promise<number[]> {
  const numbers: number[] = [];
  for (let record = await spool.peek(); record !== undefined; record = await spool.peek()) {
    numbers.push(numberOf(record));
    await spool.drop();
  }
  return numbers;
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

/** Every file handle's methods, to be spied on: there is no other way to have a disk fail at a chosen moment. */
export async function fileHandles(): Promise<FileHandle> {
  const handle = await open('/dev/null', 'r');
  await handle.close();
  return Object.getPrototypeOf(handle);
}

/** A folder of its own for each test of a file, and the spools opened on it. */
export function spoolFolder() {
  let root = '';
  let opened: Spool[] = [];
  const events: SpoolEvent[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'spool-'));
    opened = [];
    events.length = 0;
  });
  afterEach(async () => {
    for (const spool of opened) await spool.close();
    rmSync(root, { recursive: true, force: true });
  });

  const at = (...names: string[]) => join(root, 'spool', ...names);
  const files = () =>
    readdirSync(at())
      .filter((name) => !name.endsWith('.lock'))
      .sort();
  return {
    events,
    at,
    /** Names of what is in the folder, locks left out. */
    files,
    async open(options: Partial<SpoolOptions> = {}): Promise<Spool> {
      const spool = await openSpool({
        ...{ folder: at(), maxBytes: 2 ** 24, onEvent: (event) => void events.push(event) },
        ...options,
      });
      opened.push(spool);
      return spool;
    },
    /** Leaves exactly these segments in the folder. */
    put(segments: Record<string, Uint8Array>): void {
      for (const name of files()) rmSync(at(name));
      for (const [name, bytes] of Object.entries(segments)) writeFileSync(at(name), bytes);
    },
  };
}
