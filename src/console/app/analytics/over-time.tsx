import { number } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { bucketLabel, TimeChart } from './chart.tsx';
import { previousScans, type Series } from './comparison.ts';
import { CountCells, CountHeaders } from './counts.tsx';

const earlierText = (scans: number | undefined) => (scans === undefined ? '–' : number(scans));

/** The chart of scans over time, and the same as a table. */
export function OverTime({ series, before, timezone }: { series: Series; before: string; timezone: string }) {
  const { interval, data } = series;
  const earlier = previousScans(series, timezone);
  return (
    <>
      <TimeChart series={data} previous={earlier} interval={interval} before={before} timezone={timezone} />
      <details>
        <summary>View as table</summary>
        <Scroll label="Table of scans over time">
          <table>
            <thead>
              <tr>
                <th scope="col">Date</th>
                <CountHeaders />
                <th scope="col" class="number">
                  Scans in {before}
                </th>
              </tr>
            </thead>
            <tbody>
              {data
                .map((bucket, i) => (
                  <tr key={bucket.date}>
                    <td>{bucketLabel(bucket.date, interval, timezone)}</td>
                    <CountCells counts={bucket} />
                    <td class="number">{earlierText(earlier[i])}</td>
                  </tr>
                ))
                .reverse()}
            </tbody>
          </table>
        </Scroll>
      </details>
    </>
  );
}
