import { type Reading, rowsOf } from './reading.ts';
import { everyScan, parametersOf, type Selection } from './selection.ts';

export interface Group {
  kind: 'country' | 'device' | 'browser';
  name: string;
  scans: number;
  /** Exact up to `maxCounted`, and `maxCounted + 1` for more. */
  visitors: number;
}

type Row = Pick<Group, 'kind' | 'name'> & Record<'scans' | 'visitors', number | string>;

/**
 * Scans by country, by device and by browser, and whether each group has more than `maxCounted` visitors. Reads every scan of the
 * selection: no projection has the visitors of these groups. Counting to a small number takes no memory.
 */
export async function readGroups(reading: Reading, selection: Selection, maxCounted: number): Promise<Group[]> {
  const rows = await rowsOf<Row>(
    reading,
    `SELECT multiIf(grouping(country) = 0, 'country', grouping(device) = 0, 'device', 'browser') AS kind,
       toString(multiIf(kind = 'country', country, kind = 'device', device, browser)) AS name,
       count() AS scans, uniqUpTo(${maxCounted})(visitor) AS visitors
     ${everyScan(reading, selection)}
     GROUP BY GROUPING SETS ((country), (device), (browser))
     HAVING scans > 0
     ORDER BY kind, scans DESC, name`,
    parametersOf(selection),
  );
  return rows.map(({ kind, name, scans, visitors }) => ({
    kind,
    name,
    scans: Number(scans),
    visitors: Number(visitors),
  }));
}
