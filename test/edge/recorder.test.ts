import { describe, expect, test } from 'vitest';
import { decodeSpoolRecord } from '../../events/wire/spool-record.ts';
import { Overloaded, Recorder } from '../../src/edge/recorder.ts';
import type { Spool } from '../../src/edge/spool/spool.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import type { ScanBatch } from '../../src/log/append-scans.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { spoolFolder } from './spool/spool-support.ts';

const folder = spoolFolder();

/** Replaces Postgres: stores each batch number of a writer once and in order, or fails. */
function store() {
  const stored: ScanBatch[] = [];
  const sent: ScanBatch[] = [];
  let behave: 'take' | 'fail' | 'hang' | 'lose answers' = 'take';
  let held: (() => void)[] = [];
  const take = (batch: ScanBatch) => {
    const last = stored.filter(({ writer }) => writer === batch.writer).at(-1)?.number ?? 0;
    if (batch.number > last) stored.push(batch);
  };
  return {
    stored,
    sent,
    now(next: typeof behave) {
      behave = next;
      if (next !== 'hang') for (const release of held.splice(0)) release();
    },
    scans: () => stored.flatMap(({ columns }) => columns.id.slice(1, -1).split(',')),
    async store(batch: ScanBatch) {
      sent.push(structuredClone(batch));
      if (behave === 'hang') await new Promise<void>((resolve) => held.push(resolve));
      if (behave === 'fail') throw new Error('unavailable');
      take(batch);
      if (behave === 'lose answers') throw new Error('the connection was lost');
    },
    forget: () => {
      held = [];
    },
  };
}

type Store = ReturnType<typeof store>;

function recorderOn(postgres: Store, spool: Spool, writer = 'writer_1'): Recorder {
  const log = createLogger('silent', false);
  return new Recorder({
    writers: [writer, `${writer}-2`, `${writer}-3`],
    store: postgres.store,
    send: async (record) => postgres.store(decodeSpoolRecord(record)),
    spool,
    log,
    metrics: createMetrics(),
  });
}

async function record(recorder: Recorder, count: number): Promise<string[]> {
  const scans = Array.from({ length: count }, () => scanned());
  await Promise.all(scans.map((scan) => recorder.record(scan)));
  return scans.map(({ id }) => id);
}

const numbers = (batches: ScanBatch[]) => batches.map(({ number }) => number);

describe('group commit', () => {
  test('under light load each idle writer commits at once, and what arrives then is the next batch', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    postgres.now('hang');
    const recorded: Promise<string[]>[] = [];
    for (const writers of [1, 2, 3]) {
      recorded.push(record(recorder, 2));
      await eventually(() => expect(postgres.sent).toHaveLength(writers));
    }
    recorded.push(record(recorder, 3), record(recorder, 4));
    postgres.now('take');
    const ids = (await Promise.all(recorded)).flat();
    expect(postgres.sent.map(({ writer }) => writer).slice(0, 3)).toEqual(['writer_1', 'writer_1-2', 'writer_1-3']);
    expect(postgres.sent, 'one batch of all 7 scans that arrived meanwhile').toHaveLength(4);
    expect(postgres.scans(), 'each once, in order').toEqual(ids);
    await recorder.stop();
  });

  test('under load, scans that arrive during a commit are the next batch, in order', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    postgres.now('hang');
    const first = record(recorder, 8);
    await eventually(() => expect(postgres.sent).toHaveLength(1));
    const rest = record(recorder, 50);
    postgres.now('take');
    const ids = [...(await first), ...(await rest)];
    expect(numbers(postgres.stored)).toEqual([1, 2]);
    expect(postgres.scans()).toEqual(ids);
    await recorder.stop();
  });

  test('under load, 64 waiting scans start a second commit, but never a third', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    postgres.now('hang');
    const recorded = [record(recorder, 8)];
    await eventually(() => expect(postgres.sent).toHaveLength(1));
    recorded.push(record(recorder, 100));
    await eventually(() => expect(postgres.sent).toHaveLength(2));
    recorded.push(record(recorder, 100));
    postgres.now('take');
    const ids = (await Promise.all(recorded)).flat();
    expect(postgres.sent.map(({ writer, number }) => `${writer} ${number}`).slice(0, 2)).toEqual([
      'writer_1 1',
      'writer_1-2 1',
    ]);
    expect(postgres.sent[2]?.columns.id.split(','), 'one batch of all scans that arrived meanwhile').toHaveLength(100);
    expect(postgres.scans().toSorted(), 'each once').toEqual(ids.toSorted());
    await recorder.stop();
  });

  test('record resolves only after the scan is stored', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    const recorded: string[] = [];
    const scans = Array.from({ length: 200 }, () => scanned());
    await Promise.all(
      scans.map(async (scan) => {
        await recorder.record(scan);
        expect(postgres.scans(), 'stored before record resolves').toContain(scan.id);
        recorded.push(scan.id);
      }),
    );
    expect(recorded).toHaveLength(200);
    await recorder.stop();
  });

  test('a batch has at most 1,000 scans', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    await record(recorder, 2_500);
    const sizes = postgres.stored.map(({ columns }) => columns.id.split(',').length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(2_500);
    await recorder.stop();
  });

  test('more than 10,000 waiting scans are refused', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    const outcomes = await Promise.allSettled(Array.from({ length: 12_000 }, () => recorder.record(scanned())));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toHaveLength(2_000);
    expect(refused.every((reason) => reason instanceof Overloaded)).toBe(true);
    expect(postgres.scans(), 'all others are stored').toHaveLength(10_000);
    await recorder.stop();
  });
});

describe.each(['fail', 'hang', 'lose answers'] as const)('when Postgres behaves as: %s', (failure) => {
  test('scans go to the spool, and after recovery to Postgres, once and in order', async () => {
    const postgres = store();
    const spool = await folder.open();
    const recorder = recorderOn(postgres, spool);
    const ids = await record(recorder, 3);
    postgres.now(failure);
    for (let i = 0; i < 5; i++) ids.push(...(await record(recorder, 4)));
    expect(spool.waiting.records, 'scans are spooled').toBeGreaterThan(0);
    postgres.now('take');
    ids.push(...(await record(recorder, 2)));
    await eventually(() => expect(spool.waiting.records).toBe(0));
    ids.push(...(await record(recorder, 2)));
    expect(postgres.scans()).toEqual(ids);
    expect(numbers(postgres.stored)).toEqual(postgres.stored.map((_, i) => i + 1));
    await recorder.stop();
  });

  test('both writers use the spool, and each scan is stored once', async () => {
    const postgres = store();
    const spool = await folder.open();
    const recorder = recorderOn(postgres, spool);
    const recorded = [record(recorder, 100)];
    postgres.now(failure);
    for (let i = 0; i < 10; i++) {
      recorded.push(record(recorder, 100));
      await new Promise(setImmediate);
    }
    const ids = (await Promise.all(recorded)).flat();
    postgres.now('take');
    await eventually(() => expect(spool.waiting.records).toBe(0));
    expect(new Set(postgres.sent.map(({ writer }) => writer)).size, 'there were two writers').toBe(2);
    expect(postgres.scans().toSorted()).toEqual(ids.toSorted());
    await recorder.stop();
  });

  test('a batch is identical when it is sent again', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    postgres.now(failure);
    await record(recorder, 3);
    await record(recorder, 3);
    postgres.now('take');
    await eventually(() => expect(numbers(postgres.stored)).toEqual([1, 2]));
    for (const batch of postgres.sent)
      expect(batch).toEqual(postgres.sent.find(({ number }) => number === batch.number));
    await recorder.stop();
  });

  test('a full spool refuses scans, and accepts them again after it is drained', async () => {
    const postgres = store();
    const spool = await folder.open({ maxBytes: 6_000 });
    const recorder = recorderOn(postgres, spool);
    const accepted = await record(recorder, 1);
    postgres.now(failure);
    let refused = 0;
    for (let i = 0; i < 30 && refused < 3; i++)
      await record(recorder, 1).then(
        (ids) => accepted.push(...ids),
        (error) => {
          expect(error).toBeInstanceOf(Overloaded);
          refused++;
        },
      );
    expect(refused, 'the spool was full').toBe(3);
    postgres.now('take');
    await eventually(() => expect(spool.waiting.records).toBe(0));
    accepted.push(...(await record(recorder, 3)));
    const kept = new Set(postgres.scans());
    for (const id of accepted) expect(kept).toContain(id);
    expect(postgres.scans(), 'none twice').toHaveLength(kept.size);
    await recorder.stop();
  });

  test('stop does not wait for Postgres, and the next process sends the rest', async () => {
    const postgres = store();
    const recorder = recorderOn(postgres, await folder.open());
    postgres.now(failure);
    const ids = await record(recorder, 5);
    await recorder.stop();
    postgres.forget();

    postgres.now('take');
    const next = recorderOn(postgres, await folder.open(), 'writer_2');
    await eventually(() => expect(new Set(postgres.scans())).toEqual(new Set(ids)));
    expect(postgres.scans(), 'each once').toHaveLength(ids.length);
    await next.stop();
  });
});

test('reading the spool is retried after an error', async () => {
  const postgres = store();
  const spool = await folder.open();
  let unreadable = 3;
  const peek = () => (unreadable-- > 0 ? Promise.reject(new Error('input/output error')) : spool.peek());
  const troubled = Object.create(spool, { peek: { value: peek } }) as Spool;
  const recorder = recorderOn(postgres, troubled);
  postgres.now('fail');
  const ids = await record(recorder, 2);
  postgres.now('take');
  await eventually(() => expect(postgres.scans()).toEqual(ids));
  await recorder.stop();
});
