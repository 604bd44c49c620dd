import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogEntry, LogRange } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';
import { lineOf, ScanLine } from '../../events/scan-line.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { cut } from '../../src/stream/messages.ts';
import { scanned } from '../support/scans.ts';

const scanAt = (position: number, city: string): LogEntry =>
  new ScanLine(
    lineOf({
      ...scanned({ city, occurred_at: new Date(1_700_000_000_000 + position) }),
      type: 'code_scanned',
      position,
      is_unique: position % 2 === 0,
    }),
  );

const renamedAt = (position: number, to: string): LogEntry => ({
  type: 'code_renamed',
  data: { from: 'a', to },
  position,
  id: `evt_${position}`,
  stream: 'qr_1',
  version: 2,
  actor: 'operator',
  occurred_at: new Date(1_700_000_000_000 + position),
});

/** A piece of the log: runs of scans and of other events, with gaps, some of them long. */
const range: fc.Arbitrary<LogRange> = fc
  .record({
    after: fc.nat(1_000_000),
    runs: fc.array(
      fc.record({
        scans: fc.boolean(),
        count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 480, max: 1_600 })),
        gap: fc.integer({ min: 1, max: 3 }),
        text: fc.oneof(fc.constant('Munich'), fc.constant('x'.repeat(3_000))),
      }),
      { maxLength: 5 },
    ),
    trailingGap: fc.nat(5),
  })
  .map(({ after, runs, trailingGap }) => {
    let position = after;
    const entries: LogEntry[] = [];
    for (const { scans, count, gap, text } of runs)
      for (let i = 0; i < Math.min(count, text.length > 100 ? 200 : count); i++) {
        position += gap;
        entries.push(scans ? scanAt(position, text) : renamedAt(position, text));
      }
    return { after, to: entries.length === 0 ? after : position + trailingGap, entries };
  });

describe('messages of a range', () => {
  test('have no gaps between them, and contain every entry once, in order and unchanged', () => {
    fc.assert(
      fc.property(range, (given) => {
        const messages = cut(given);
        const decoded = messages.map(({ data }) => decodeMessage(new TextEncoder().encode(data)));
        let reached = given.after;
        for (const [i, { after, to, entries }] of decoded.entries()) {
          expect(after).toBe(reached);
          expect([messages[i]?.after, messages[i]?.to]).toEqual([after, to]);
          for (const { position } of entries) expect(position > after && position <= to).toBe(true);
          reached = to;
        }
        expect(reached).toBe(given.to);
        expect(decoded.flatMap(({ entries }) => entries)).toEqual(given.entries);
      }),
      { numRuns: 60 },
    );
  });

  test('contain one kind of entry each, and stay within the limits', () => {
    fc.assert(
      fc.property(range, (given) => {
        for (const { kind, data } of cut(given)) {
          const { entries } = decodeMessage(new TextEncoder().encode(data));
          expect(entries.length).toBeGreaterThan(0);
          expect(entries.length).toBeLessThanOrEqual(500);
          expect(entries.every((entry) => isScan(entry) === (kind === 'scans'))).toBe(true);
          if (entries.length > 1) expect(Buffer.byteLength(data)).toBeLessThan(1_000_000);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('are the same each time a range is split', () => {
    fc.assert(
      fc.property(range, (given) => {
        expect(cut({ ...given, entries: [...given.entries] })).toEqual(cut(given));
      }),
      { numRuns: 30 },
    );
  });

  test('do not exist for an empty range', () => {
    expect(cut({ after: 5, to: 5, entries: [] })).toEqual([]);
  });
});
