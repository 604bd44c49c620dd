/** What links can be imported from. In a file of its own, so that declaring the command loads nothing else. */
export const sourceNames = ['bitly', 'dub', 'shlink', 'kutt', 'yourls', 'rebrandly', 'short-io', 'csv'] as const;

export type SourceName = (typeof sourceNames)[number];
