import { number } from '../format.ts';

/** The columns that every table of scans ends with. */
export const CountHeads = () => (
  <>
    <th scope="col" class="number">
      Scans
    </th>
    <th scope="col" class="number">
      Visitors
    </th>
  </>
);

export const CountCells = ({ of }: { of: { total_scans: number; unique_visitors: number } }) => (
  <>
    <td class="number">{number(of.total_scans)}</td>
    <td class="number">{number(of.unique_visitors)}</td>
  </>
);
