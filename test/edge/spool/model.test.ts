import { statSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { openSpool, type Spool, SpoolFull } from '../../../src/edge/spool/spool.ts';
import { fileHandles, oldest, spoolFolder, writeThen } from './spool-support.ts';

const folder = spoolFolder();
const maxBytes = 3000;
const segmentBytes = 400;

type Step =
  | { do: 'append'; records: Uint8Array[] }
  | { do: 'peek' }
  | { do: 'drop'; count: number }
  /** Drops records during appends. */
  | { do: 'both'; records: Uint8Array[]; drops: number }
  /** The next call of this kind fails; `written`: after it has written. */
  | { do: 'fail'; method: 'write' | 'written' | 'sync' }
  /** Removes the newest file, if it has no records. */
  | { do: 'trim' }
  | { do: 'reopen' };

const records = fc.array(fc.uint8Array({ maxLength: 150 }), { minLength: 1, maxLength: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('append' as const), records }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('peek' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('drop' as const), count: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('both' as const), records, drops: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('fail' as const), method: fc.constantFrom('write', 'written', 'sync') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trim' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);
/** None, some or all of the new records stay in memory. */
const memory = fc.constantFrom(0, 300, maxBytes);

const bytesOf = (list: readonly Uint8Array[]) => list.reduce((sum, { length }) => sum + length, 0);

/** The expected state: all stored records, and how many of them were dropped. */
class Model {
  readonly stored: Uint8Array[] = [];
  dropped = 0;

  get waiting() {
    return this.stored.slice(this.dropped);
  }

  async append(spool: Spool, list: Uint8Array[]): Promise<void> {
    const results = await Promise.allSettled(list.map((record) => spool.append(record)));
    for (const [i, result] of results.entries()) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(SpoolFull);
      else this.stored.push(list[i] ?? new Uint8Array());
    }
  }

  /** After a restart, dropped records of the oldest segment are returned again. */
  reopened(records: number): void {
    const again = records - this.waiting.length;
    expect(again).toBeGreaterThanOrEqual(0);
    expect(again).toBeLessThanOrEqual(this.dropped);
    expect(bytesOf(this.stored.slice(this.dropped - again, this.dropped))).toBeLessThan(segmentBytes);
    this.dropped -= again;
  }
}

async function take(spool: Spool, model: Model): Promise<void> {
  const [expected] = model.waiting;
  expect(Buffer.from((await oldest(spool)) ?? 'nothing')).toEqual(Buffer.from(expected ?? 'nothing'));
}

describe('a spool', () => {
  async function play(steps: Step[], memoryBytes: number): Promise<void> {
    const options = { folder: folder.at(), maxBytes, segmentBytes, memoryBytes };
    let spool = await openSpool(options);
    const model = new Model();
    const handles = await fileHandles();
    try {
      for (const step of steps) {
        if (step.do === 'append') await model.append(spool, step.records);
        else if (step.do === 'peek') await take(spool, model);
        else if (step.do === 'drop') {
          for (let i = 0; i < step.count; i++) await spool.drop();
          model.dropped = Math.min(model.stored.length, model.dropped + step.count);
        } else if (step.do === 'both') {
          const drops = Math.min(step.drops, model.waiting.length);
          await Promise.all([model.append(spool, step.records), ...Array.from({ length: drops }, () => spool.drop())]);
          model.dropped += drops;
        } else if (step.do === 'fail') {
          const fail = () => Promise.reject(new Error('injected'));
          if (step.method === 'sync') vi.spyOn(handles, 'sync').mockImplementationOnce(fail);
          else vi.spyOn(handles, 'write').mockImplementationOnce(step.method === 'written' ? writeThen(fail) : fail);
        } else if (step.do === 'trim') {
          await spool.trim();
          if (model.waiting.length === 0) expect(folder.files()).toEqual([]);
        } else {
          vi.restoreAllMocks();
          await spool.close();
          spool = await openSpool(options);
          model.reopened(spool.waiting.records);
        }
        expect(spool.waiting).toEqual({ records: model.waiting.length, bytes: bytesOf(model.waiting) });
        const onDisk = folder.files().reduce((sum, name) => sum + statSync(folder.at(name)).size, 0);
        expect(onDisk).toBeLessThanOrEqual(maxBytes);
      }
      while (model.waiting.length > 0) {
        await take(spool, model);
        await spool.drop();
        model.dropped += 1;
      }
      await take(spool, model);
      await spool.trim();
      expect(folder.files()).toEqual([]);
    } finally {
      vi.restoreAllMocks();
      await spool.close();
    }
  }

  it('behaves like a queue for any sequence of operations', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), memory, play), { numRuns: 150 });
  });
});
