import { describe, expect, test, vi } from 'vitest';
import { decodeSpoolRecord } from '../../events/wire/spool-record.ts';
import { Overloaded, type Recorder } from '../../src/edge/recorder.ts';
import { stopTimeoutMs, trimAfterMs } from '../../src/edge/spool/drain.ts';
import type { Spool } from '../../src/edge/spool/spool.ts';
import { timeouts } from '../../src/lib/timeouts.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { type ManualTimers, manualTimers } from '../support/timers.ts';
import { FakePostgres, idsOf, record, recorderOn } from './recorder-support.ts';
import { fileHandles, spoolFolder, writeThen } from './spool/spool-support.ts';

const folder = spoolFolder();
const durabilities = ['disk', 'log'] as const;

/** The ids of the scans in each record of a spool. */
const recordsOf = async (spool: Spool) => (await spool.peek(2 ** 24)).map((bytes) => idsOf(decodeSpoolRecord(bytes)));

describe('a scan', () => {
  test('is answered once it is on disk, although Postgres does not answer', async () => {
    const postgres = new FakePostgres();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool });
    postgres.now('hang');
    const ids = await record(recorder, 3);
    expect(await recordsOf(spool)).toEqual([ids]);
    expect(postgres.stored).toEqual([]);
    postgres.now('take');
    await eventually(() => expect(postgres.scans()).toEqual(ids));
    await recorder.stop();
  });

  test('is answered after its commit with durability log', async () => {
    const postgres = new FakePostgres();
    const recorder = recorderOn({ postgres, spool: await folder.open(), durability: 'log' });
    const scans = Array.from({ length: 200 }, () => scanned());
    const answered = await Promise.all(
      scans.map(async (scan) => {
        await recorder.record(scan);
        expect(postgres.scans(), 'stored before record resolves').toContain(scan.id);
        return scan.id;
      }),
    );
    expect(answered).toHaveLength(200);
    await recorder.stop();
  });

  test('shares a write with all that arrive during the write before', async () => {
    const disk = Promise.withResolvers<void>();
    const writes = vi.spyOn(await fileHandles(), 'write').mockImplementation(writeThen(() => disk.promise));
    const postgres = new FakePostgres();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool });
    postgres.now('hang');
    const first = record(recorder, 2);
    await eventually(() => expect(writes).toHaveBeenCalledTimes(1));
    const later = [record(recorder, 3), record(recorder, 4)];
    disk.resolve();
    const expected = [await first, (await Promise.all(later)).flat()];
    expect(await recordsOf(spool), 'one record for each write').toEqual(expected);
    expect(writes).toHaveBeenCalledTimes(2);
    writes.mockRestore();
    postgres.now('take');
    await recorder.stop();
  });

  test('is refused when 10,000 wait for a response', async () => {
    const postgres = new FakePostgres();
    const recorder = recorderOn({ postgres, spool: await folder.open() });
    const outcomes = await Promise.allSettled(Array.from({ length: 12_000 }, () => recorder.record(scanned())));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toHaveLength(2_000);
    expect(refused.every((reason) => reason instanceof Overloaded)).toBe(true);
    await recorder.stop();
    expect(postgres.scans(), 'all others are stored').toHaveLength(10_000);
  });
});

describe('the drain', () => {
  test('commits at once after a pause, then every 50 ms, all that waits with one statement', async () => {
    const postgres = new FakePostgres();
    const timers = manualTimers();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool, timers });
    const first = await record(recorder, 2);
    await eventually(() => expect(spool.waiting.records).toBe(0));
    const rest = [...(await record(recorder, 1)), ...(await record(recorder, 2)), ...(await record(recorder, 3))];
    timers.advance(49);
    expect(postgres.sent, 'only the first').toHaveLength(1);
    timers.advance(1);
    await eventually(() => expect(spool.waiting.records).toBe(0));
    expect(postgres.sent.map(idsOf)).toEqual([first, rest]);
    expect(postgres.sent[1]).toMatchObject({ first: 2, number: 4 });
    await recorder.stop();
  });

  test('does not wait when a full batch is there, and sends at most 1,000 scans at once', async () => {
    const postgres = new FakePostgres();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool });
    const ids = await record(recorder, 5_000);
    const sizes = () => postgres.stored.map((batch) => idsOf(batch).length);
    await eventually(() => expect(sizes().reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(4_000));
    expect(Math.max(...sizes())).toBe(1_000);
    await recorder.stop();
    expect(postgres.scans(), 'in order').toEqual(ids);
  });

  test('renames its writer every 5 minutes, so that the versions of its row stay few', async () => {
    const postgres = new FakePostgres();
    const timers = manualTimers();
    const recorder = recorderOn({ postgres, spool: await folder.open(), timers });
    for (const minutes of [0, 4, 2, 4]) {
      timers.advance(minutes * 60_000);
      await record(recorder, 1);
      const { length } = postgres.sent;
      await eventually(() => expect(postgres.stored).toHaveLength(Math.max(1, length)));
    }
    await recorder.stop();
    const named = postgres.stored.map(({ writer, number }) => ({ writer, number }));
    expect(new Set(named.map(({ writer }) => writer)).size).toBe(2);
    expect(named.map(({ number }) => number)).toEqual([1, 2, 1, 2]);
  });

  test('removes the file of the spool after a second without scans', async () => {
    const postgres = new FakePostgres();
    const timers = manualTimers();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool, timers });
    await record(recorder, 1);
    await eventually(() => expect(spool.waiting.records).toBe(0));
    expect(folder.files()).toHaveLength(1);
    await eventually(() => {
      timers.advance(trimAfterMs);
      expect(folder.files()).toEqual([]);
    });
    await recorder.stop();
  });
});

describe('responses', () => {
  /** Records scans until `bytes` wait in the spool; their responses may be held. Resolves to their promises. */
  async function fill(recorder: Recorder, spool: Spool, bytes: number): Promise<Promise<string[]>[]> {
    const recording: Promise<string[]>[] = [];
    while (spool.waiting.bytes < bytes) {
      const { records } = spool.waiting;
      recording.push(record(recorder, 1_000));
      await eventually(() => expect(spool.waiting.records).toBeGreaterThan(records));
    }
    return recording;
  }

  test('wait for the drain when it is more than 5 s behind, and not while Postgres is unavailable', async () => {
    const postgres = new FakePostgres();
    const timers = manualTimers();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool, timers });
    postgres.now('hang');
    // The rate is assumed to be 1 MB/s until it is measured.
    const filled = await fill(recorder, spool, 5_000_000);
    await eventually(() => expect(postgres.hanging).toBe(1));

    let answered = 0;
    const held = Array.from({ length: 2 }, () => record(recorder, 1_000).then(() => answered++));
    const { records } = spool.waiting;
    await eventually(() => expect(spool.waiting.records).toBeGreaterThanOrEqual(records + 2));
    expect(answered, 'on disk, but not answered').toBe(0);
    timers.advance(timeouts.commitStallMs);
    await Promise.all([...filled, ...held]);
    await record(recorder, 1);
    expect(postgres.stored).toEqual([]);

    postgres.now('take');
    await eventually(() => expect(spool.waiting.records).toBeLessThan(100));
    await recorder.stop();
    expect(new Set(postgres.scans()).size, 'none twice').toBe(postgres.scans().length);
  });

  test('that wait for the drain are sent as it proceeds, before their own commit', async () => {
    const postgres = new FakePostgres();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool });
    postgres.now('hang');
    const filled = await fill(recorder, spool, 5_500_000);
    const ids: string[] = [];
    const held = record(recorder, 100).then((given) => ids.push(...given));
    await eventually(() => {
      postgres.commitOne();
      expect(ids).toHaveLength(100);
    });
    expect(postgres.scans(), 'its own commit is far away').not.toContain(ids[0]);
    await Promise.all([...filled, held]);
    postgres.now('take');
    await recorder.stop();
  });
});

describe.each(durabilities)('with durability %s', (durability) => {
  describe.each(['fail', 'hang', 'lose responses'] as const)('when Postgres behaves as: %s', (failure) => {
    /** Records scans, and moves the time until they are answered. */
    async function recordDuring(recorder: Recorder, timers: ManualTimers, count: number): Promise<string[]> {
      let ids: string[] | undefined;
      const recording = record(recorder, count).then((recorded) => {
        ids = recorded;
      });
      await eventually(() => {
        timers.advance(timeouts.commitStallMs);
        expect(ids).toBeDefined();
      });
      await recording;
      return ids ?? [];
    }

    test('scans are answered from disk, and reach Postgres once and in order', async () => {
      const postgres = new FakePostgres();
      const timers = manualTimers();
      const spool = await folder.open();
      const recorder = recorderOn({ postgres, spool, durability, timers });
      const ids = await recordDuring(recorder, timers, 3);
      postgres.now(failure);
      for (let i = 0; i < 5; i++) ids.push(...(await recordDuring(recorder, timers, 4)));
      postgres.now('take');
      ids.push(...(await recordDuring(recorder, timers, 2)));
      await eventually(() => {
        timers.advance(timeouts.commitStallMs);
        expect(spool.waiting.records).toBe(0);
      });
      ids.push(...(await recordDuring(recorder, timers, 2)));
      await recorder.stop();
      expect(postgres.scans()).toEqual(ids);
      expect(folder.files()).toEqual([]);
    });

    test('a full spool refuses scans, and accepts them again after it is drained', async () => {
      const postgres = new FakePostgres();
      const timers = manualTimers();
      const spool = await folder.open({ maxBytes: 12_000 });
      const recorder = recorderOn({ postgres, spool, durability, timers });
      const accepted = await recordDuring(recorder, timers, 1);
      postgres.now(failure);
      let refused = 0;
      for (let i = 0; i < 60 && refused < 3; i++) {
        const recording = record(recorder, 1);
        let settled = false;
        recording.then(
          (ids) => {
            accepted.push(...ids);
            settled = true;
          },
          (error) => {
            expect(error).toBeInstanceOf(Overloaded);
            refused++;
            settled = true;
          },
        );
        await eventually(() => {
          timers.advance(timeouts.commitStallMs);
          expect(settled).toBe(true);
        });
        // Every statement is answered late, but takes effect.
        if (failure === 'lose responses' && postgres.stored.length > 5) postgres.now('fail');
      }
      expect(refused, 'the spool was full').toBe(3);
      postgres.now('take');
      await eventually(() => {
        timers.advance(timeouts.commitStallMs);
        expect(spool.waiting.records).toBe(0);
      });
      accepted.push(...(await recordDuring(recorder, timers, 3)));
      await recorder.stop();
      const kept = new Set(postgres.scans());
      for (const id of accepted) expect(kept).toContain(id);
      expect(postgres.scans(), 'none twice').toHaveLength(kept.size);
    });

    test('stop does not wait for Postgres, and the next process sends the rest', async () => {
      const postgres = new FakePostgres();
      const timers = manualTimers();
      const recorder = recorderOn({ postgres, spool: await folder.open(), durability, timers });
      postgres.now(failure);
      const ids = await recordDuring(recorder, timers, 5);
      let stopped = false;
      const stopping = recorder.stop().then(() => {
        stopped = true;
      });
      await eventually(() => {
        timers.advance(stopTimeoutMs);
        expect(stopped).toBe(true);
      });
      await stopping;
      postgres.forget();

      postgres.now('take');
      const next = recorderOn({ postgres, spool: await folder.open(), durability });
      await eventually(() => expect(new Set(postgres.scans())).toEqual(new Set(ids)));
      expect(postgres.scans(), 'each once').toHaveLength(ids.length);
      await next.stop();
    });
  });
});

describe.each(['ENOSPC', 'EROFS', 'EIO'])('a disk that answers %s', (code) => {
  test('refuses scans, none of which reaches Postgres, and records again once it can be written', async () => {
    const postgres = new FakePostgres();
    const timers = manualTimers();
    const spool = await folder.open();
    const recorder = recorderOn({ postgres, spool, timers });
    postgres.now('hang');
    const ids = await record(recorder, 2);
    const write = vi
      .spyOn(await fileHandles(), 'write')
      .mockRejectedValue(Object.assign(new Error(`${code}: injected`), { code }));
    for (let i = 0; i < 3; i++) await expect(record(recorder, 2)).rejects.toBeInstanceOf(Overloaded);
    write.mockRestore();
    ids.push(...(await record(recorder, 2)));
    postgres.now('take');
    await recorder.stop();
    expect(postgres.scans()).toEqual(ids);
    const again = await folder.open();
    expect(again.waiting.records).toBe(0);
  });
});

test('what waits is sent before the recorder stops', async () => {
  const postgres = new FakePostgres();
  const spool = await folder.open();
  const recorder = recorderOn({ postgres, spool });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(...(await record(recorder, 2)));
  await recorder.stop();
  expect(postgres.scans()).toEqual(ids);
  expect(folder.files()).toEqual([]);
});

test('after a lost response, only what is not stored yet is sent again', async () => {
  const postgres = new FakePostgres();
  const timers = manualTimers();
  const spool = await folder.open();
  const recorder = recorderOn({ postgres, spool, timers });
  postgres.now('hang');
  const ids = await record(recorder, 2);
  await eventually(() => expect(postgres.hanging).toBe(1));
  postgres.now('lose responses');
  await eventually(() => expect(postgres.scans()).toEqual(ids));
  for (let i = 0; i < 3; i++) ids.push(...(await record(recorder, 2)));
  postgres.now('take');
  await eventually(() => {
    timers.advance(timeouts.commitStallMs);
    expect(spool.waiting.records).toBe(0);
  });
  expect(postgres.scans()).toEqual(ids);
  expect(postgres.stored.at(-1)).toMatchObject({ first: 2, number: 4 });
  await recorder.stop();
});

test('reading the spool is retried after an error', async () => {
  const postgres = new FakePostgres();
  const timers = manualTimers();
  const spool = await folder.open();
  let unreadable = 3;
  const peek = (maxBytes: number) =>
    unreadable-- > 0 ? Promise.reject(new Error('input/output error')) : spool.peek(maxBytes);
  const troubled = Object.create(spool, { peek: { value: peek } }) as Spool;
  const recorder = recorderOn({ postgres, spool: troubled, timers });
  const ids = await record(recorder, 2);
  await eventually(() => {
    timers.advance(timeouts.commitStallMs);
    expect(postgres.scans()).toEqual(ids);
  });
  await recorder.stop();
});
