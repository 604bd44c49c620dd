import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inspectSpool } from '../../../src/edge/spool/spool.ts';
import { drain, frameBytes, headerBytes, numbered, range, spoolFolder } from './spool-support.ts';

const folder = spoolFolder();
const firstFile = '0000000001.spool';
const secondFile = '0000000002.spool';

/** Two segments: records 1 to 5 in the first, 6 and 7 in the second. */
async function twoSegments(): Promise<{ first: Buffer; second: Buffer }> {
  const spool = await folder.open();
  await Promise.all(range(1, 5).map((number) => spool.append(numbered(number))));
  await spool.close();
  const later = await folder.open();
  await Promise.all([6, 7].map((number) => later.append(numbered(number))));
  await later.close();
  expect(folder.files()).toEqual([firstFile, secondFile]);
  return { first: readFileSync(folder.at(firstFile)), second: readFileSync(folder.at(secondFile)) };
}

async function reopened(): Promise<number[]> {
  folder.events.length = 0;
  const spool = await folder.open();
  const { waiting } = spool;
  await spool.append(numbered(99));
  const numbers = await drain(spool);
  expect(waiting.records).toBeGreaterThanOrEqual(numbers.length - 1);
  expect(spool.waiting).toEqual({ records: 0, bytes: 0 });
  await spool.close();
  return numbers;
}

describe('a segment that is older than 390 days', () => {
  const day = (days: number) => () => new Date(Date.UTC(2026, 5, 1) + days * 24 * 60 * 60 * 1000);

  it('is set aside and not sent, because duplicates might not be detected', async () => {
    const clocks = [day(0), day(2), () => new Date(0)];
    for (const [i, clock] of clocks.entries()) {
      const spool = await folder.open({ clock });
      await spool.append(numbered(i));
      await spool.close();
    }
    folder.events.length = 0;
    expect(
      await drain(await folder.open({ clock: day(391) })),
      'a segment from a clock that was not set is sent',
    ).toEqual([1, 2]);
    expect(folder.events).toEqual([
      { kind: 'spool_set_aside', file: `${firstFile}.corrupt`, reason: 'it is older than 390 days' },
    ]);
    expect((await inspectSpool(folder.at())).setAside).toBe(1);
  });
});

describe('a segment that was truncated by a crash', () => {
  it('returns every complete record, wherever the last one is truncated', async () => {
    const { first, second } = await twoSegments();
    for (let length = second.length - frameBytes - 40; length < second.length; length++) {
      folder.put({ [firstFile]: first, [secondFile]: second.subarray(0, length) });
      expect(await inspectSpool(folder.at())).toMatchObject({ records: 6, segments: 2 });
      expect(await reopened()).toEqual([...range(1, 6), 99]);
      const cut = length - (second.length - frameBytes - 40);
      expect(folder.events).toEqual(cut === 0 ? [] : [{ kind: 'spool_tail_torn', file: secondFile, bytes: cut }]);
      expect(folder.files()).toEqual([]);
    }
  });

  it('is removed if it ends inside its header', async () => {
    const { first, second } = await twoSegments();
    for (let length = 0; length <= headerBytes; length++) {
      folder.put({ [firstFile]: first, [secondFile]: second.subarray(0, length) });
      expect(await reopened()).toEqual([...range(1, 5), 99]);
      expect(folder.files()).toEqual([]);
    }
  });
});

describe('a segment with changed bytes', () => {
  const flipped = (bytes: Buffer, at: number, mask: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ mask;
    return copy;
  };

  it('skips the damaged record, or the rest if its length is damaged, and is set aside', async () => {
    const { first, second } = await twoSegments();
    const each = frameBytes + 40;
    for (let at = 0; at < first.length; at++) {
      const mask = [0x01, 0x80, 0xff][at % 3] ?? 1;
      const damaged = flipped(first, at, mask);
      folder.put({ [firstFile]: damaged, [secondFile]: second });

      const damagedNumber = Math.floor((at - headerBytes) / each) + 1;
      const inFrame = (at - headerBytes) % each < frameBytes;
      const left =
        at < headerBytes ? [] : range(1, 5).filter((n) => n < damagedNumber || (n > damagedNumber && !inFrame));
      expect(await reopened(), `byte ${at}`).toEqual([...left, 6, 7, 99]);
      expect(folder.events).toMatchObject([{ kind: 'spool_set_aside', file: `${firstFile}.corrupt` }]);
      expect(folder.files()).toEqual([`${firstFile}.corrupt`]);
      expect(readFileSync(folder.at(`${firstFile}.corrupt`)).equals(damaged)).toBe(true);
      expect((await inspectSpool(folder.at())).setAside).toBe(1);
    }
  });

  it('is set aside if it is the last one, or ends with zeros', async () => {
    const { first } = await twoSegments();
    folder.put({ [firstFile]: flipped(first, first.length - 1, 4) });
    expect(await reopened()).toEqual([...range(1, 4), 99]);
    expect(folder.files()).toEqual([`${firstFile}.corrupt`]);
    folder.put({ [firstFile]: Buffer.concat([first, Buffer.alloc(4096)]) });
    expect(await reopened()).toEqual([...range(1, 5), 99]);
    expect(folder.files()).toEqual([`${firstFile}.corrupt`]);
  });

  it('never overwrites one that was set aside before', async () => {
    const { first, second } = await twoSegments();
    folder.put({ [firstFile]: flipped(first, headerBytes + frameBytes, 1), [`${secondFile}.corrupt`]: second });
    const spool = await folder.open();
    await spool.append(numbered(8));
    expect(folder.files()).toContain('0000000003.spool');
    expect(await drain(spool)).toEqual([2, 3, 4, 5, 8]);
    expect(folder.files().sort()).toEqual([`${firstFile}.corrupt`, `${secondFile}.corrupt`]);
  });

  it('of another format is set aside unchanged', async () => {
    const { first, second } = await twoSegments();
    const foreign = Buffer.concat([Buffer.from('SCANSPL2'), first.subarray(8)]);
    folder.put({ [firstFile]: foreign, [secondFile]: second });
    expect(await reopened()).toEqual([6, 7, 99]);
    expect(readFileSync(folder.at(`${firstFile}.corrupt`)).equals(foreign)).toBe(true);
  });
});

describe('a segment that is damaged while it is in use', () => {
  it('is abandoned by the reader and the writer; later records go to a new segment', async () => {
    const spool = await folder.open({ memoryBytes: 0 });
    await Promise.all(range(1, 5).map((number) => spool.append(numbered(number))));
    const bytes = readFileSync(folder.at(firstFile));
    bytes.fill(0, headerBytes + 2 * (frameBytes + 40));
    folder.put({ [firstFile]: bytes });
    const later = spool.append(numbered(6));
    expect(await drain(spool)).toEqual([1, 2]);
    await later;
    await spool.append(numbered(7));
    expect(await drain(spool)).toEqual([7]);
    expect(folder.files()).toEqual([`${firstFile}.corrupt`]);
  });

  it('may have been removed', async () => {
    const spool = await folder.open({ segmentBytes: 200, memoryBytes: 0 });
    for (const number of range(1, 6)) await spool.append(numbered(number));
    folder.put({ [secondFile]: readFileSync(folder.at(secondFile)) });
    expect(await drain(spool)).toEqual([4, 5, 6]);
    expect(folder.events).toMatchObject([{ kind: 'spool_not_removed', file: firstFile }]);
  });
});
