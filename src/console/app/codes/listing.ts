/** What the URL of the list selects. */

export const statuses = [
  ['', 'All'],
  ['active', 'Active'],
  ['paused', 'Paused'],
  ['draft', 'Drafts'],
] as const;

export const sizes = [20, 50, 100] as const;
export const maxSearchLength = 255;

/** Undefined for all codes, and for an unknown status. */
export const statusOf = (query: URLSearchParams) =>
  statuses.find(([status]) => status === query.get('status'))?.[0] || undefined;
