import { timeZones, timeZoneText } from '../time-zones.ts';

const Option = (zone: string) => (
  <option key={zone} value={zone}>
    {timeZoneText(zone)}
  </option>
);

/** The options of a `select` of time zones: those that the user most likely wants, each with its reason, then all others. */
export function TimeZoneOptions({ suggested }: { suggested: [zone: string, why: string][] }) {
  const first = new Map<string, string>();
  for (const [zone, why] of suggested) if (!first.has(zone)) first.set(zone, why);
  return (
    <>
      {[...first].map(([zone, why]) => (
        <optgroup key={zone} label={why}>
          {Option(zone)}
        </optgroup>
      ))}
      <optgroup label="All time zones">
        {timeZones()
          .filter((zone) => !first.has(zone))
          .map(Option)}
      </optgroup>
    </>
  );
}
