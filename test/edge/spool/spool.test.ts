import { constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { targetOf } from '../../../bench/process.ts';
import { inspectSpool, SpoolFull } from '../../../src/edge/spool/spool.ts';
import { eventually, reaches } from '../../support/eventually.ts';
import {
  drain,
  fileHandles,
  frameBytes,
  headerBytes,
  numbered,
  numberOf,
  oldest,
  range,
  spoolFolder,
  writeThen,
} from './spool-support.ts';

const folder = spoolFolder();

describe('a spool', () => {
  it('returns records in the order of their appends, across segments', async () => {
    const spool = await folder.open({ segmentBytes: 1000 });
    for (const number of range(1, 100)) await spool.append(numbered(number, number));
    expect(folder.files().length).toBeGreaterThan(5);
    expect(spool.waiting).toEqual({ records: 100, bytes: 3 * 4 + range(4, 100).reduce((sum, n) => sum + n) });
    expect(await drain(spool)).toEqual(range(1, 100));
    expect(spool.waiting).toEqual({ records: 0, bytes: 0 });
  });

  it('keeps the newest file after all records are dropped, until it is trimmed or closed', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    await spool.drop();
    expect(folder.files()).toHaveLength(1);
    await spool.append(numbered(2));
    expect(folder.files(), 'the file is used again').toHaveLength(1);
    await spool.trim();
    expect(folder.files(), 'a record waits').toHaveLength(1);
    await spool.drop();
    await spool.trim();
    expect(folder.files()).toEqual([]);
    await spool.append(numbered(3));
    await spool.drop();
    await spool.close();
    expect(folder.files()).toEqual([]);
  });

  it('returns as many records as fit, and at least one', async () => {
    for (const memoryBytes of [0, 100, 2 ** 20]) {
      const spool = await folder.open({ segmentBytes: 200, memoryBytes });
      for (const number of range(1, 9)) await spool.append(numbered(number));
      const numbers = async (maxBytes: number) => (await spool.peek(maxBytes)).map(numberOf);
      expect(await numbers(1)).toEqual([1]);
      expect(await numbers(119)).toEqual([1, 2]);
      expect(await numbers(120)).toEqual([1, 2, 3]);
      await spool.drop(2);
      expect(await numbers(1_000)).toEqual(range(3, 9));
      expect(spool.waiting).toEqual({ records: 7, bytes: 7 * 40 });
      await spool.drop(100);
      expect(await numbers(1_000)).toEqual([]);
      await spool.close();
    }
  });

  it('does not read new records from disk, until they exceed its memory', async () => {
    const read = vi.spyOn(await fileHandles(), 'read');
    const spool = await folder.open({ segmentBytes: 1_000, memoryBytes: 60 * 40 });
    for (const number of range(1, 60)) await spool.append(numbered(number));
    expect(await drain(spool)).toEqual(range(1, 60));
    expect(read).not.toHaveBeenCalled();
    for (const number of range(1, 90)) await spool.append(numbered(number));
    expect(await drain(spool)).toEqual(range(1, 90));
    expect(read, 'the rest of 30 was read').toHaveBeenCalled();
    read.mockClear();
    for (const number of range(1, 60)) await spool.append(numbered(number));
    expect(await drain(spool)).toEqual(range(1, 60));
    expect(read, 'new records are kept again').not.toHaveBeenCalled();
    read.mockRestore();
  });

  it('returns the same record until it is dropped, and undefined when empty', async () => {
    const spool = await folder.open();
    expect(await oldest(spool)).toBeUndefined();
    await spool.drop();
    await Promise.all([spool.append(numbered(1)), spool.append(numbered(2))]);
    expect((await Promise.all([oldest(spool), oldest(spool)])).map((record) => record && numberOf(record))).toEqual([
      1, 1,
    ]);
    await Promise.all([spool.drop(), spool.drop(), spool.drop()]);
    expect(await oldest(spool)).toBeUndefined();
  });

  it('accepts empty records, and records larger than a segment or the read-ahead', async () => {
    const spool = await folder.open({ segmentBytes: 1000 });
    await spool.append(new Uint8Array());
    await spool.append(numbered(2, 700_000));
    await spool.append(numbered(3));
    expect(await oldest(spool)).toHaveLength(0);
    await spool.drop();
    expect(await drain(spool)).toEqual([2, 3]);
  });

  it('can be read during appends to the same segment', async () => {
    const spool = await folder.open({ segmentBytes: 20_000 });
    const appending = Promise.all(range(1, 2000).map((number) => spool.append(numbered(number))));
    const seen: number[] = [];
    while (seen.length < 2000) {
      const record = await eventually(async () => {
        const found = await oldest(spool);
        if (found === undefined) throw new Error('no record is synced yet');
        return found;
      });
      seen.push(numberOf(record));
      await spool.drop();
    }
    await appending;
    expect(seen).toEqual(range(1, 2000));
    await spool.trim();
    expect(folder.files()).toEqual([]);
  });

  it('keeps all records for the next process, including dropped ones of the oldest segment', async () => {
    const spool = await folder.open({ segmentBytes: headerBytes + 10 * (frameBytes + 40) });
    for (const number of range(1, 30)) await spool.append(numbered(number));
    for (const _ of range(1, 15)) await spool.drop();
    await spool.close();
    const again = await folder.open();
    await again.append(numbered(31));
    expect(again.waiting.records).toBe(21);
    expect(await drain(again)).toEqual(range(11, 31));
  });

  it('writes each append, and appends during a write share the next one', async () => {
    const writes = vi.spyOn(await fileHandles(), 'write');
    const spool = await folder.open();
    await spool.append(numbered(0));
    await spool.append(numbered(1));
    expect(writes).toHaveBeenCalledTimes(2);
    const first = spool.append(numbered(2));
    await reaches(3, () => writes.mock.calls.length);
    await Promise.all([first, ...range(3, 500).map((number) => spool.append(numbered(number)))]);
    expect(writes).toHaveBeenCalledTimes(4);
    writes.mockRestore();
    expect(await drain(spool)).toEqual(range(0, 500));
  });

  it('opens its file so that a write ends when the disk has it', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    const [name = ''] = folder.files();
    const path = folder.at(name);
    const fd = readdirSync('/proc/self/fd').find((fd) => targetOf(process.pid, fd) === path);
    const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    expect(Number.parseInt(flags, 8) & constants.O_DSYNC).toBe(constants.O_DSYNC);
  });

  it('neither acknowledges nor returns a record before it is written', async () => {
    const disk = Promise.withResolvers<void>();
    const writes = vi.spyOn(await fileHandles(), 'write').mockImplementation(writeThen(() => disk.promise));
    const spool = await folder.open();
    const acknowledged = vi.fn();
    const appended = spool.append(numbered(1)).then(acknowledged);
    await reaches(1, () => writes.mock.calls.length);
    expect(await oldest(spool)).toBeUndefined();
    expect(acknowledged).not.toHaveBeenCalled();
    disk.resolve();
    await appended;
    writes.mockRestore();
    expect(await drain(spool)).toEqual([1]);
  });

  it('stores appends from before close, and refuses later ones', async () => {
    const spool = await folder.open();
    const appended = spool.append(numbered(1));
    await Promise.all([spool.close(), appended]);
    await expect(spool.append(numbered(2))).rejects.toThrow('closed');
    await expect(oldest(spool)).rejects.toThrow('closed');
    expect(await drain(await folder.open())).toEqual([1]);
  });

  it('is not readable by other users', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    expect(statSync(folder.at()).mode & 0o777).toBe(0o700);
    for (const name of folder.files()) expect(statSync(folder.at(name)).mode & 0o777).toBe(0o600);
  });

  it('works although the event listener throws', async () => {
    const spool = await folder.open();
    await spool.append(numbered(1));
    await spool.close();
    const [name = ''] = folder.files();
    folder.put({ [name]: readFileSync(folder.at(name)).subarray(0, -1) });
    const onEvent = () => {
      throw new Error('no');
    };
    const again = await folder.open({ onEvent });
    await again.append(numbered(2));
    expect(await drain(again)).toEqual([2]);
  });
});

describe('a full spool', () => {
  const maxBytes = 4000;
  const onDisk = () => folder.files().reduce((sum, name) => sum + statSync(folder.at(name)).size, 0);

  it('refuses records and never exceeds its maximum size', async () => {
    const spool = await folder.open({ maxBytes, segmentBytes: 1000 });
    const results = await Promise.allSettled(range(1, 100).map((number) => spool.append(numbered(number, 100))));
    const stored = results.flatMap(({ status }, i) => (status === 'fulfilled' ? [i + 1] : []));
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(SpoolFull);
    expect(stored.length).toBeGreaterThan(20);
    await eventually(() => expect(spool.append(numbered(101, 100))).rejects.toBeInstanceOf(SpoolFull));
    expect(onDisk()).toBeLessThanOrEqual(maxBytes);
    await spool.close();
    const again = await folder.open({ maxBytes });
    expect(await drain(again)).toEqual(expect.arrayContaining(stored));
  });

  it('accepts records after a segment is dropped, also after a restart', async () => {
    const spool = await folder.open({ maxBytes, segmentBytes: 1000 });
    let number = 0;
    const fill = async (into = spool) => {
      for (;;) {
        const refused = await into.append(numbered(number + 1, 100)).then(
          () => false,
          () => true,
        );
        if (refused) return;
        number += 1;
      }
    };
    await fill();
    const before = number;
    for (const _ of range(1, 8)) await spool.drop();
    await fill();
    expect(number).toBeGreaterThan(before);
    await spool.close();
    const again = await folder.open({ maxBytes, segmentBytes: 1000 });
    await expect(again.append(numbered(0, 100))).rejects.toBeInstanceOf(SpoolFull);
    expect(await drain(again)).toEqual(range(9, number));
    await again.append(numbered(number + 1, 100));
  });
});

describe('inspectSpool', () => {
  it('counts records, whether the spool is open or not', async () => {
    expect(await inspectSpool(folder.at())).toEqual({ records: 0, bytes: 0, segments: 0, setAside: 0 });
    const createdAt = new Date('2026-05-04T03:02:01.123Z');
    const spool = await folder.open({ segmentBytes: 500, clock: () => createdAt });
    for (const number of range(1, 20)) await spool.append(numbered(number, 100));
    const expected = { records: 20, bytes: 2000, segments: 5, setAside: 0, oldest: createdAt };
    expect(await inspectSpool(folder.at())).toEqual(expected);
    await spool.close();
    expect(await inspectSpool(folder.at())).toEqual(expected);
    expect(await drain(await folder.open())).toEqual(range(1, 20));
    expect(await inspectSpool(folder.at())).toEqual({ records: 0, bytes: 0, segments: 0, setAside: 0 });
  });
});
