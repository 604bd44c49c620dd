/** Views of the pages that have several, by their `tab` in the URL. */

export const analyticsTabs = [
  ['analytics', 'Analytics'],
  ['scans', 'Scans'],
] as const;

/** Each with the scope that it needs. */
export const codeTabs = [
  ['analytics', 'Analytics', 'analytics.read'],
  ['leads', 'Where it leads', 'codes.read'],
  ['scans', 'Scans', 'analytics.read'],
  ['history', 'History', 'codes.read'],
] as const;
export type CodeTab = (typeof codeTabs)[number][0];
