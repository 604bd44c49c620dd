import { compact, number, plural } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Failure, Skeleton } from '../parts/states.tsx';
import type { Resource } from '../resource.ts';
import type { HeatMap as Data } from '../types.ts';

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
const levels = 5;

interface Props {
  hours: Resource<Pick<Data, 'data'>>;
}

/** Scans by weekday and hour: a table whose cells are darker where there are more scans. */
export function HeatMap({ hours }: Props) {
  return (
    <section class="card" aria-label="Weekdays and hours" aria-busy={hours.data !== undefined && hours.loading}>
      <h2>Weekdays and hours</h2>
      {hours.error !== undefined && hours.data === undefined ? (
        <Failure error={hours.error} retry={hours.reload} />
      ) : hours.data === undefined ? (
        <Skeleton lines={3} />
      ) : (
        <Hours data={hours.data.data} />
      )}
    </section>
  );
}

function Hours({ data }: { data: Data['data'] }) {
  const largest = Math.max(1, ...data.map(({ total_scans }) => total_scans));
  const busiest = data.find(({ total_scans }) => total_scans === largest);
  return (
    <>
      {busiest !== undefined && (
        <p class="hint">
          Most scans: {weekdays[busiest.weekday - 1]} from {hourText(busiest.hour)}, {plural(largest, 'scan')}.
        </p>
      )}
      <Scroll label="Scans by weekday and hour">
        <table class="heat-map">
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">Weekday</span>
              </th>
              {Array.from({ length: 24 }, (_, hour) => (
                <th scope="col" key={hour}>
                  <span aria-hidden="true">{hour}</span>
                  <span class="hidden">{hourText(hour)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {weekdays.map((name, i) => (
              <tr key={name}>
                <th scope="row">
                  <span aria-hidden="true">{name.slice(0, 3)}</span>
                  <span class="hidden">{name}</span>
                </th>
                {data.slice(i * 24, (i + 1) * 24).map(({ hour, total_scans }) => (
                  <td
                    key={hour}
                    class={`level-${Math.ceil((total_scans / largest) * levels)}`}
                    title={`${name} ${hourText(hour)}: ${number(total_scans)} scans`}
                  >
                    {total_scans === 0 ? <span class="hidden">0</span> : compact(total_scans)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
