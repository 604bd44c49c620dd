/** The time zone of the browser. */
export const deviceTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Every time zone that the browser knows, and UTC. */
export const timeZones = (): string[] => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].sort();

/** "America/New York" */
export const timeZoneText = (name: string) => name.replaceAll('_', ' ');
