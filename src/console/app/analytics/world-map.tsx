import { useState } from 'preact/hooks';
import { country, percent, plural } from '../format.ts';
import { useAsset } from '../use-asset.ts';
import { bootstrap } from '../welcome.ts';
import { filterUrl } from './filters.ts';
import { MapLinks, type MapPlace } from './map-links.tsx';
import { type Cities, type Point, placeOf, viewOf, type World } from './world.ts';

/** Both with most scans first. */
interface Props {
  countries: { country: string; scans: number }[];
  cities: { city: string; country: string; scans: number }[];
  total: number;
}

const levels = 5;
const unknownCity = 'Unknown';
/** Diameters of dots, in pixels of a wide screen. */
const smallCountryPx = 8;
const [minCityPx, maxCityPx] = [7, 20];

/** By the root, so that a country with a hundredth of the scans is not pale, and the area of a dot stands for its scans. */
const weightOf = (scans: number, largest: number) => Math.sqrt(scans / Math.max(1, largest));

/** A map whose countries are darker where there are more scans, with dots for cities. Each of them filters the page. */
export function WorldMap({ countries, cities, total }: Props) {
  const world = useAsset<World>(bootstrap.world_url);
  const placed = useAsset<Cities>(bootstrap.cities_url);
  const [focused, setFocused] = useState<string>();
  const [hovered, setHovered] = useState<string>();
  if (world === undefined) return <div class="world" aria-hidden="true" />;
  const textOf = (name: string, scans: number) =>
    `${name}: ${plural(scans, 'scan')}, ${percent(total === 0 ? 0 : scans / total)}`;

  const drawn = countries.filter(({ country: code }) => code in world.outlines || code in world.dots);
  const countryPlaces: MapPlace[] = drawn.map(({ country: code, scans }) => ({
    key: code,
    href: filterUrl({ country: code }),
    text: textOf(country(code), scans),
    class: `level-${Math.max(1, Math.ceil(weightOf(scans, drawn[0]?.scans ?? 0) * levels))}`,
    drawing: <CountryShape world={world} code={code} />,
  }));
  const known = cities.filter(({ city }) => city !== unknownCity);
  const cityPlaces: MapPlace[] = known.flatMap(({ city, country: code, scans }) => {
    const point = placed && placeOf(placed, code, city);
    if (point === undefined) return [];
    const diameter = minCityPx + (maxCityPx - minCityPx) * weightOf(scans, known[0]?.scans ?? 0);
    return {
      key: `${code} ${city}`,
      href: filterUrl({ city, country: code }),
      text: textOf(`${city}, ${country(code)}`, scans),
      class: 'city',
      drawing: <Dot at={point} px={diameter} />,
    };
  });

  const shown = [...countryPlaces, ...cityPlaces].find(({ key }) => key === (hovered ?? focused));
  const unplaced = placed === undefined ? 0 : known.length - cityPlaces.length;
  const codes = drawn.map(({ country: code }) => code);
  const watching = { onFocused: setFocused, onHovered: setHovered };
  return (
    <figure class="world stack">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing cannot be a fieldset */}
      <svg
        viewBox={viewOf(world, codes).join(' ')}
        role="group"
        aria-label="Map of scans by country and city"
        onMouseLeave={() => setHovered(undefined)}
      >
        {Object.entries(world.outlines).map(([code, path]) => (
          <path key={code} d={path} class="land" />
        ))}
        <MapLinks label="Countries" places={countryPlaces} {...watching} />
        <MapLinks label="Cities" places={cityPlaces} {...watching} />
      </svg>
      <figcaption class="hint" aria-hidden="true">
        {shown?.text ?? captionOf(cityPlaces.length, unplaced)}
      </figcaption>
    </figure>
  );
}

function captionOf(dots: number, unplaced: number): string {
  const colors = 'Darker where there are more scans.';
  if (dots === 0) return colors;
  return `${colors} Dots are cities${unplaced === 0 ? '' : `; ${unplaced} more are in the list`}.`;
}

function CountryShape({ world, code }: { world: World; code: string }) {
  const point = world.dots[code];
  return point === undefined ? (
    <path d={world.outlines[code]} class="outline" />
  ) : (
    <Dot at={point} px={smallCountryPx} />
  );
}

/** Lines without length, because their width can be in pixels whatever the scale of the map is. */
function Dot({ at: [x, y], px }: { at: Point; px: number }) {
  const line = `M${x} ${y}h0`;
  return (
    <g style={{ '--diameter': px }}>
      <path d={line} class="ring" />
      <path d={line} class="dot" />
    </g>
  );
}
