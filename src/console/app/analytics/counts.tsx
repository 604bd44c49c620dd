import { number, visitors } from '../format.ts';

/** Header cells of the Scans and Visitors columns. */
export const CountHeaders = () => (
  <>
    <th scope="col" class="number">
      Scans
    </th>
    <th scope="col" class="number">
      Visitors
    </th>
  </>
);

export const CountCells = ({ counts }: { counts: { total_scans: number; unique_visitors: number } }) => (
  <>
    <td class="number">{number(counts.total_scans)}</td>
    <td class="number">{visitors(counts.unique_visitors)}</td>
  </>
);
