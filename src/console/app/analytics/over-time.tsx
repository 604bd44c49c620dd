import { number } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { TimeChart } from './chart.tsx';
import { bucketLabel } from './chart-labels.ts';
import { previousScans, type Series } from './comparison.ts';
import { CountCells, CountHeaders } from './counts.tsx';
import { type Happening, marksOf } from './marks.ts';

const earlierText = (scans: number | undefined) => (scans === undefined ? '–' : number(scans));

interface Props {
  series: Series;
  before: string;
  timezone: string;
  /** What happened to the code meanwhile. */
  happenings: readonly Happening[];
}

/** The chart of scans over time, and the same as a table. */
export function OverTime({ series, before, timezone, happenings }: Props) {
  const { interval, data } = series;
  const marks = marksOf(happenings, series, timezone);
  const textsOf = new Map(marks.map(({ index, texts }) => [index, texts]));
  const earlier = previousScans(series, timezone);
  return (
    <>
      <TimeChart
        series={data}
        previous={earlier}
        interval={interval}
        before={before}
        timezone={timezone}
        marks={marks}
      />
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
                    <td>
                      {bucketLabel(bucket.date, interval, timezone)}
                      {textsOf.get(i)?.map((text) => (
                        <p key={text} class="hint wrapped">
                          {text}
                        </p>
                      ))}
                    </td>
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
