import { country, displayName } from '../format.ts';
import type { Summary } from '../types.ts';
import { Attribution } from './attribution.tsx';
import { Bars } from './bars.tsx';
import type { FilterColumn } from './filter-columns.ts';
import { filterUrl } from './filters.ts';
import { WorldMap } from './world-map.tsx';

const rankedRows = (column: FilterColumn, counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([value, scans]) => ({ label: displayName(value), scans, href: filterUrl({ [column]: value }) }))
    .sort((a, b) => b.scans - a.scans);

type Distribution = Pick<Summary, 'summary' | 'top_countries' | 'top_cities' | 'devices' | 'browsers'>;

/** Scans by country, city, device and browser. Each row filters the page. */
export function Breakdown({ summary: distribution }: { summary: Distribution }) {
  const { summary, top_countries, top_cities, devices, browsers } = distribution;
  const total = summary.total_scans;
  return (
    <div class="grid columns-l">
      <section class="card map" aria-label="Map">
        <h3>Map</h3>
        <WorldMap countries={top_countries} cities={top_cities} total={total} />
      </section>
      <Bars
        total={total}
        title="Countries"
        rows={top_countries.map(({ country: code, scans }) => ({
          label: country(code),
          scans,
          href: filterUrl({ country: code }),
        }))}
        empty="No location data"
      />
      <Bars
        total={total}
        title="Cities"
        rows={top_cities.map(({ city, country: code, scans }) => ({
          label: city,
          hint: code === 'XX' ? undefined : country(code),
          scans,
          href: filterUrl({ city, country: code }),
        }))}
        empty="No location data"
      />
      <Bars total={total} title="Devices" rows={rankedRows('device', devices)} empty="No device data" />
      <Bars total={total} title="Browsers" rows={rankedRows('browser', browsers)} empty="No browser data" />
      <Attribution />
    </div>
  );
}
