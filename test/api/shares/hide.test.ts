import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cell, hideInSeries, hideInTable, hideTotals, minVisitors } from '../../../src/api/shares/hide.ts';

const cell = (name: string, scans: number, visitors = scans): Cell => ({ name, scans, visitors });

describe('figures of few people', () => {
  test('are merged, with the smallest of the others if they would be the only ones', () => {
    expect(hideInTable([cell('DE', 48), cell('FR', 20), cell('AT', 2)], 10)).toEqual({
      rows: [{ name: 'DE', scans: 48 }],
      other: 22,
    });
    expect(hideInTable([cell('DE', 48), cell('FR', 3), cell('AT', 2)], 10)).toEqual({
      rows: [{ name: 'DE', scans: 48 }],
      other: 5,
    });
    expect(hideInTable([cell('DE', 40, 3)], 10)).toEqual({ rows: [], other: null });
    expect(hideInTable([], 10)).toEqual({ rows: [], other: undefined });
    expect(hideInTable([cell('a', 30), cell('b', 20), cell('c', 10)], 2).other, 'not one row alone').toBe(30);
  });

  test('of days are left out, and of no one are not', () => {
    const days = [cell('1', 0), cell('2', 30), cell('3', 2), cell('4', 12)];
    expect(hideInSeries(days).map(({ scans }) => scans)).toEqual([0, 30, null, null]);
  });

  test('are not totals', () => {
    expect(hideTotals({ scans: 30, visitors: 4 })).toEqual({ scans: null, visitors: null });
    expect(hideTotals({ scans: 0, visitors: 0 })).toEqual({ scans: 0, visitors: 0 });
    expect(hideTotals({ scans: 13, visitors: 12 })).toEqual({ scans: 13, visitors: 12 });
  });

  test('cannot be computed from what is shown', () => {
    const cells = fc.uniqueArray(
      fc.record({ name: fc.string(), scans: fc.nat(60), share: fc.double({ min: 0.01, max: 1, noNaN: true }) }),
      { selector: ({ name }) => name, maxLength: 12 },
    );
    fc.assert(
      fc.property(cells, fc.integer({ min: 1, max: 12 }), (given, maxRows) => {
        const all = given.map(({ name, scans, share }) => cell(name, scans, Math.ceil(scans * share)));
        const hiddenBy = (shown: ReadonlySet<string>) => all.filter(({ name, scans }) => scans > 0 && !shown.has(name));
        const table = hideInTable(all, maxRows);
        const series = hideInSeries(all).filter(({ scans }) => scans !== null);
        for (const shown of [table.rows, series]) {
          const names = new Set(shown.map(({ name }) => name));
          const hidden = hiddenBy(names);
          const people = hidden.reduce((sum, { visitors }) => sum + visitors, 0);
          expect(
            all.filter(({ name, scans, visitors }) => names.has(name) && scans > 0 && visitors < minVisitors),
          ).toEqual([]);
          // Either several, of enough people together, or all there is, which then has no total.
          const isAll = hidden.length === all.filter(({ scans }) => scans > 0).length;
          expect(hidden.length === 0 || (hidden.length > 1 && people >= minVisitors) || isAll).toBe(true);
        }
        expect(table.rows.length).toBeLessThanOrEqual(maxRows);
      }),
    );
  });
});
