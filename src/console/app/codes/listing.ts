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

/** Orders of the list, each with its name in the toolbar. */
export const sortOptions = [
  ['-created_at', 'Newest first'],
  ['created_at', 'Oldest first'],
  ['-total_scans', 'Most scans'],
  ['total_scans', 'Fewest scans'],
  ['name', 'Name A–Z'],
  ['-name', 'Name Z–A'],
  ['destination_url', 'Destination A–Z'],
  ['-destination_url', 'Destination Z–A'],
  ['status', 'Status A–Z'],
  ['-status', 'Status Z–A'],
] as const;
export type Sort = (typeof sortOptions)[number][0];

export const defaultSort: Sort = '-created_at';

export const sortOf = (query: URLSearchParams): Sort =>
  sortOptions.find(([option]) => option === query.get('sort'))?.[0] ?? defaultSort;
