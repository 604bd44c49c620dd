import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inspectSpool } from '../../src/edge/spool.ts';
import { drain, FRAME_BYTES, HEADER_BYTES, numbered, range, spoolFolder } from './spool-support.ts';

const folder = spoolFolder();
const FIRST = '0000000001.spool';
const SECOND = '0000000002.spool';

/** Two segments: records 1 to 5 in the first, 6 and 7 in the second. */
async function twoSegments(): Promise<{ first: Buffer; second: Buffer }> {
  const spool = await folder.open();
  await Promise.all(range(1, 5).map((number) => spool.append(numbered(number))));
  await spool.close();
  const later = await folder.open();
  await Promise.all([6, 7].map((number) => later.append(numbered(number))));
  await later.close();
  expect(folder.files()).toEqual([FIRST, SECOND]);
  return { first: readFileSync(folder.at(FIRST)), second: readFileSync(folder.at(SECOND)) };
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

describe('a segment that was begun more than 390 days ago', () => {
  const day = (days: number) => () => new Date(Date.UTC(2026, 5, 1) + days * 24 * 60 * 60 * 1000);

  it('is set aside and not sent: the log may have forgotten that its records were stored', async () => {
    const clocks = [day(0), day(2), () => new Date(0)];
    for (const [i, clock] of clocks.entries()) {
      const spool = await folder.open({ clock });
      await spool.append(numbered(i));
      await spool.close();
    }
    folder.events.length = 0;
    expect(await drain(await folder.open({ clock: day(391) })), 'one of a clock that was not set is sent').toEqual([
      1, 2,
    ]);
    expect(folder.events).toEqual([
      { kind: 'spool_set_aside', file: `${FIRST}.corrupt`, reason: 'it is older than 390 days' },
    ]);
    expect((await inspectSpool(folder.at())).setAside).toBe(1);
  });
});

describe('a segment that a crash cut short', () => {
  it('gives every whole record, wherever in the last one it ends, and takes new ones', async () => {
    const { first, second } = await twoSegments();
    for (let length = second.length - FRAME_BYTES - 40; length < second.length; length++) {
      folder.put({ [FIRST]: first, [SECOND]: second.subarray(0, length) });
      expect(await inspectSpool(folder.at())).toMatchObject({ records: 6, segments: 2 });
      expect(await reopened()).toEqual([...range(1, 6), 99]);
      const cut = length - (second.length - FRAME_BYTES - 40);
      expect(folder.events).toEqual(cut === 0 ? [] : [{ kind: 'spool_tail_torn', file: SECOND, bytes: cut }]);
      expect(folder.files()).toEqual([]);
    }
  });

  it('is nothing when it ends in its header', async () => {
    const { first, second } = await twoSegments();
    for (let length = 0; length <= HEADER_BYTES; length++) {
      folder.put({ [FIRST]: first, [SECOND]: second.subarray(0, length) });
      expect(await reopened()).toEqual([...range(1, 5), 99]);
      expect(folder.files()).toEqual([]);
    }
  });
});

describe('a segment in which bytes have changed', () => {
  const flipped = (bytes: Buffer, at: number, mask: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ mask;
    return copy;
  };

  it('gives all but the record that is hurt when that is known, else all before it, is kept, and later ones come', async () => {
    const { first, second } = await twoSegments();
    const each = FRAME_BYTES + 40;
    for (let at = 0; at < first.length; at++) {
      const mask = [0x01, 0x80, 0xff][at % 3] ?? 1;
      const damaged = flipped(first, at, mask);
      folder.put({ [FIRST]: damaged, [SECOND]: second });

      const hurt = Math.floor((at - HEADER_BYTES) / each) + 1;
      const inFrame = (at - HEADER_BYTES) % each < FRAME_BYTES;
      const left = at < HEADER_BYTES ? [] : range(1, 5).filter((n) => n < hurt || (n > hurt && !inFrame));
      expect(await reopened(), `byte ${at}`).toEqual([...left, 6, 7, 99]);
      expect(folder.events).toMatchObject([{ kind: 'spool_set_aside', file: `${FIRST}.corrupt` }]);
      expect(folder.files()).toEqual([`${FIRST}.corrupt`]);
      expect(readFileSync(folder.at(`${FIRST}.corrupt`)).equals(damaged)).toBe(true);
      expect((await inspectSpool(folder.at())).setAside).toBe(1);
    }
  });

  it('is kept too when it is the last one, or holds zeros where a record should be', async () => {
    const { first } = await twoSegments();
    folder.put({ [FIRST]: flipped(first, first.length - 1, 4) });
    expect(await reopened()).toEqual([...range(1, 4), 99]);
    expect(folder.files()).toEqual([`${FIRST}.corrupt`]);
    folder.put({ [FIRST]: Buffer.concat([first, Buffer.alloc(4096)]) });
    expect(await reopened()).toEqual([...range(1, 5), 99]);
    expect(folder.files()).toEqual([`${FIRST}.corrupt`]);
  });

  it('never takes the place of one that was set aside before', async () => {
    const { first, second } = await twoSegments();
    folder.put({ [FIRST]: flipped(first, HEADER_BYTES + FRAME_BYTES, 1), [`${SECOND}.corrupt`]: second });
    const spool = await folder.open();
    await spool.append(numbered(8));
    expect(folder.files()).toContain('0000000003.spool');
    expect(await drain(spool)).toEqual([2, 3, 4, 5, 8]);
    expect(folder.files().sort()).toEqual([`${FIRST}.corrupt`, `${SECOND}.corrupt`]);
  });

  it('may be of another program or version: it is left whole', async () => {
    const { first, second } = await twoSegments();
    const foreign = Buffer.concat([Buffer.from('SCANSPL2'), first.subarray(8)]);
    folder.put({ [FIRST]: foreign, [SECOND]: second });
    expect(await reopened()).toEqual([6, 7, 99]);
    expect(readFileSync(folder.at(`${FIRST}.corrupt`)).equals(foreign)).toBe(true);
  });
});

describe('a segment that is hurt while it is in use', () => {
  it('is left by reader and writer alike, and what comes after it is stored elsewhere', async () => {
    const spool = await folder.open();
    await Promise.all(range(1, 5).map((number) => spool.append(numbered(number))));
    const bytes = readFileSync(folder.at(FIRST));
    bytes.fill(0, HEADER_BYTES + 2 * (FRAME_BYTES + 40));
    folder.put({ [FIRST]: bytes });
    const later = spool.append(numbered(6));
    expect(await drain(spool)).toEqual([1, 2]);
    await later;
    await spool.append(numbered(7));
    expect(await drain(spool)).toEqual([7]);
    expect(folder.files()).toEqual([`${FIRST}.corrupt`]);
  });

  it('may even have been removed', async () => {
    const spool = await folder.open({ segmentBytes: 200 });
    for (const number of range(1, 6)) await spool.append(numbered(number));
    folder.put({ [SECOND]: readFileSync(folder.at(SECOND)) });
    expect(await drain(spool)).toEqual([4, 5, 6]);
    expect(folder.events).toMatchObject([{ kind: 'spool_not_removed', file: FIRST }]);
  });
});
