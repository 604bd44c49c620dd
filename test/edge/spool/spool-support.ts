import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { openSpool, type Spool, type SpoolEvent, type SpoolOptions } from '../../../src/edge/spool/spool.ts';

export const headerBytes = 20;
export const frameBytes = 12;

/** A record that contains its number and whose content can be verified. */
export function numbered(number: number, length = 40): Buffer {
  const record = Buffer.alloc(Math.max(length, 4), number % 251);
  record.writeUInt32LE(number);
  return record;
}

export function numberOf(record: Uint8Array): number {
  const number = Buffer.from(record).readUInt32LE();
  if (!numbered(number, record.length).equals(record))
    throw new Error(`record ${number} does not have the content that was appended`);
  return number;
}

/** The oldest record of a spool, or undefined. */
export const oldest = async (spool: Spool): Promise<Uint8Array | undefined> => (await spool.peek(1))[0];

/** Drops all records of a spool, with their files, and returns their numbers. */
export async function drain(spool: Spool): Promise<number[]> {
  const numbers: number[] = [];
  for (let record = await oldest(spool); record !== undefined; record = await oldest(spool)) {
    numbers.push(numberOf(record));
    await spool.drop();
  }
  await spool.trim();
  return numbers;
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

/** The prototype of all file handles, to make disk operations fail at a chosen moment. */
export async function fileHandles(): Promise<FileHandle> {
  const handle = await open('/dev/null', 'r');
  await handle.close();
  return Object.getPrototypeOf(handle);
}

type Write = (...args: [Uint8Array, number, number, number]) => Promise<unknown>;
const write: Write = (await fileHandles()).write;

/** A write of a file handle that is followed by `disk`, and fails with it. */
export const writeThen = (disk: () => Promise<void>) =>
  async function (this: FileHandle, ...args: unknown[]) {
    const result = await write.apply(this, args as Parameters<Write>);
    await disk();
    return result;
  } as FileHandle['write'];

/** Creates a folder for each test of a file, and closes the spools opened in it. */
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
    /** File names in the folder, without locks. */
    files,
    async open(options: Partial<SpoolOptions> = {}): Promise<Spool> {
      const spool = await openSpool({
        folder: at(),
        maxBytes: 2 ** 24,
        onEvent: (event) => void events.push(event),
        ...options,
      });
      opened.push(spool);
      return spool;
    },
    /** Replaces the contents of the folder with these segments. */
    put(segments: Record<string, Uint8Array>): void {
      for (const name of files()) rmSync(at(name));
      for (const [name, bytes] of Object.entries(segments)) writeFileSync(at(name), bytes);
    },
  };
}
