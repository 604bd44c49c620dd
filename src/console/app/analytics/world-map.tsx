import { useRef, useState } from 'preact/hooks';
import { country, percent, plural } from '../format.ts';
import { useAsset } from '../use-asset.ts';
import { bootstrap } from '../welcome.ts';
import { filterUrl } from './filters.ts';

/** Outlines of countries, and the places of those that are too small for one. */
interface World {
  width: number;
  height: number;
  outlines: Record<string, string>;
  dots: Record<string, [x: number, y: number]>;
}

interface Props {
  /** With most scans first. */
  countries: { country: string; scans: number }[];
  total: number;
}

const levels = 5;
const dotRadius = 4;

/**
 * A map whose countries are darker where there are more scans. Each of them filters the page. The keys move from the country
 * with most scans to that with fewest, so that the map is one stop for Tab.
 */
export function WorldMap({ countries, total }: Props) {
  const world = useAsset<World>(bootstrap.world_url);
  const map = useRef<SVGSVGElement>(null);
  const [current, setCurrent] = useState(0);
  const [isShown, setShown] = useState(false);
  if (world === undefined) return <div class="world" aria-hidden="true" />;
  const drawn = countries.filter(({ country: code }) => code in world.outlines || code in world.dots);
  const largest = Math.max(1, ...drawn.map(({ scans }) => scans));
  const textOf = ({ country: code, scans }: Props['countries'][number]) =>
    `${country(code)}: ${plural(scans, 'scan')}, ${percent(total === 0 ? 0 : scans / total)}`;

  const move = (event: KeyboardEvent) => {
    const to = targetOf(event.key, current, drawn.length);
    if (to === undefined) return;
    event.preventDefault();
    map.current?.querySelectorAll('a')[to]?.focus();
  };
  const shown = isShown ? drawn[current] : undefined;
  return (
    <figure class="world stack">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing cannot be a fieldset */}
      <svg
        ref={map}
        viewBox={`0 0 ${world.width} ${world.height}`}
        role="group"
        aria-label="Map of scans by country"
        onKeyDown={move}
        onMouseLeave={() => {
          // What has the focus stays shown.
          if (map.current?.contains(document.activeElement) !== true) setShown(false);
        }}
      >
        {Object.entries(world.outlines).map(([code, path]) => (
          <path key={code} d={path} class="land" />
        ))}
        {drawn.map((row, index) => {
          const { country: code, scans } = row;
          const show = () => {
            setCurrent(index);
            setShown(true);
          };
          // By the root, so that a country with a hundredth of the scans is not pale.
          const level = Math.max(1, Math.ceil(Math.sqrt(scans / largest) * levels));
          return (
            <a
              key={code}
              href={filterUrl({ country: code })}
              tabIndex={index === Math.min(current, drawn.length - 1) ? 0 : -1}
              aria-label={textOf(row)}
              class={`level-${level}`}
              onFocus={show}
              onBlur={() => setShown(false)}
              onMouseEnter={show}
            >
              <Place world={world} code={code} />
            </a>
          );
        })}
      </svg>
      <figcaption class="hint" aria-hidden="true">
        {shown === undefined ? 'Darker where there are more scans.' : textOf(shown)}
      </figcaption>
    </figure>
  );
}

function Place({ world, code }: { world: World; code: string }) {
  const outline = world.outlines[code];
  if (outline !== undefined) return <path d={outline} />;
  const [x, y] = world.dots[code] ?? [0, 0];
  return <circle cx={x} cy={y} r={dotRadius} />;
}

/** The country that a key moves to. */
function targetOf(key: string, current: number, count: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowRight: Math.min(current + 1, count - 1),
    ArrowDown: Math.min(current + 1, count - 1),
    ArrowLeft: Math.max(current - 1, 0),
    ArrowUp: Math.max(current - 1, 0),
    Home: 0,
    End: count - 1,
  };
  return steps[key];
}
