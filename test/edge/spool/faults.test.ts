import { mkdirSync, rmdirSync, statSync, truncateSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SpoolFull } from '../../../src/edge/spool/spool.ts';
import { drain, fileHandles, numbered, oldest, range, spoolFolder, writeThen } from './spool-support.ts';

const folder = spoolFolder();
let handles: FileHandle;

beforeEach(async () => {
  handles = await fileHandles();
});
afterEach(() => vi.restoreAllMocks());

const diskError = (code: string) => Object.assign(new Error(`${code}: injected`), { code });

/** Simulates a disk with `room` free bytes. Like a real one, it writes as much as fits and then fails. */
function leaveRoomFor(room: number) {
  const write: (...args: [Uint8Array, number, number, number]) => Promise<unknown> = handles.write;
  return vi.spyOn(handles, 'write').mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
    const [bytes, offset, length, position] = args as [Uint8Array, number, number, number];
    if (room === 0) throw diskError('ENOSPC');
    const part = Math.min(room, length);
    room -= part;
    return write.call(this, bytes, offset, part, position);
  } as typeof handles.write);
}

describe('a full disk', () => {
  it('refuses records, keeps the stored ones, and accepts new ones once there is space', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    const [name = ''] = folder.files();
    const good = statSync(folder.at(name)).size;

    const disk = leaveRoomFor(25);
    for (const number of [2, 3, 4]) {
      const refusal = await spool.append(numbered(number)).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(SpoolFull);
      expect(refusal).toMatchObject({ cause: { code: 'ENOSPC' } });
    }
    expect(folder.files()).toEqual([name]);
    expect(statSync(folder.at(name)).size).toBe(good);
    expect(folder.events).toEqual([{ kind: 'spool_write_failed', reason: 'ENOSPC: injected' }]);

    disk.mockRestore();
    await spool.append(numbered(5));
    expect(folder.events.at(-1)).toEqual({ kind: 'spool_writes_again' });
    expect(spool.waiting.records).toBe(2);
    expect(await drain(spool)).toEqual([1, 5]);
    expect(folder.files()).toEqual([]);
  });

  it('refuses all records of a failed write', async () => {
    const spool = await folder.open();
    const disk = leaveRoomFor(1000);
    const results = await Promise.allSettled(range(1, 50).map((number) => spool.append(numbered(number))));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(spool.waiting).toEqual({ records: 0, bytes: 0 });
    expect(folder.files()).toEqual([]);
    disk.mockRestore();
    await spool.append(numbered(51));
    expect(await drain(spool)).toEqual([51]);
  });

  it('does not prevent draining, and its last segment is removed', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    leaveRoomFor(0);
    const refused = expect(spool.append(numbered(2))).rejects.toBeInstanceOf(SpoolFull);
    expect(await drain(spool)).toEqual([1]);
    await refused;
    expect(folder.files()).toEqual([]);
  });

  it('leaves a torn record at the end of its segment if truncating fails too', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    const disk = leaveRoomFor(25);
    vi.spyOn(handles, 'truncate').mockRejectedValueOnce(diskError('EIO'));
    await expect(spool.append(numbered(2))).rejects.toBeInstanceOf(SpoolFull);
    disk.mockRestore();
    await spool.append(numbered(3));
    expect(folder.files()).toHaveLength(2);
    await spool.close();

    folder.events.length = 0;
    const again = await folder.open();
    expect(folder.events).toMatchObject([{ kind: 'spool_tail_torn', bytes: 25 }]);
    expect(await drain(again)).toEqual([1, 3]);
  });
});

describe('a failed sync', () => {
  it('refuses the record, and the segment is not written again', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    const [name = ''] = folder.files();
    vi.spyOn(handles, 'write').mockImplementationOnce(writeThen(() => Promise.reject(diskError('EIO'))));
    await expect(spool.append(numbered(2))).rejects.toMatchObject({ cause: { code: 'EIO' } });
    expect(spool.waiting.records).toBe(1);
    await spool.append(numbered(3));
    expect(folder.files()).toHaveLength(2);
    expect(folder.files()).toContain(name);
    expect(await drain(spool)).toEqual([1, 3]);
  });

  it('of the folder, after a segment was created, refuses the record too', async () => {
    const spool = await folder.open();
    vi.spyOn(handles, 'sync').mockRejectedValueOnce(diskError('EIO'));
    await expect(spool.append(numbered(1))).rejects.toBeInstanceOf(SpoolFull);
    expect(folder.files()).toEqual([]);
    await spool.append(numbered(2));
    expect(await drain(spool)).toEqual([2]);
  });
});

describe('a folder in which no file can be created', () => {
  it('refuses records until files can be created', async () => {
    const spool = await folder.open({ folder: folder.at() });
    const inTheWay = ['0000000001.spool', '0000000002.spool'];
    for (const name of inTheWay) mkdirSync(folder.at(name));
    for (const _ of inTheWay)
      await expect(spool.append(numbered(1))).rejects.toMatchObject({ cause: { code: 'EEXIST' } });
    await spool.append(numbered(2));
    for (const name of inTheWay) rmdirSync(folder.at(name));
    expect(await drain(spool)).toEqual([2]);
  });
});

describe('a disk that cannot be read', () => {
  it('passes on a temporary error and loses no record', async () => {
    const spool = await folder.open({ memoryBytes: 0 });
    await spool.append(numbered(1));
    const read = vi.spyOn(handles, 'read').mockRejectedValueOnce(diskError('ENOMEM'));
    await expect(oldest(spool)).rejects.toMatchObject({ code: 'ENOMEM' });
    read.mockRestore();
    expect(await drain(spool)).toEqual([1]);
  });

  it('sets aside a segment with a bad sector or a truncated one, and reads later ones', async () => {
    const spool = await folder.open({ segmentBytes: 200, memoryBytes: 0 });
    for (const number of range(1, 9)) await spool.append(numbered(number));
    const [, second = ''] = folder.files();
    truncateSync(folder.at(second), 100);
    vi.spyOn(handles, 'read').mockRejectedValueOnce(diskError('EIO'));
    expect(await drain(spool)).toEqual([4, 7, 8, 9]);
    expect(folder.events.map(({ kind }) => kind)).toEqual(['spool_set_aside', 'spool_set_aside']);
  });
});
