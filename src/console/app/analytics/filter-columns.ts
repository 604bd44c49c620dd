/** Columns that a click on one of their values filters by. */
export const filterColumns = ['country', 'city', 'device', 'browser'] as const;
export type FilterColumn = (typeof filterColumns)[number];

export const botOptions = [
  ['exclude', 'People'],
  ['include', 'People and bots'],
  ['only', 'Bots only'],
] as const;
export type BotChoice = (typeof botOptions)[number][0];

export const tagMatches = [
  ['any', 'Any of them'],
  ['all', 'All of them'],
] as const;
export type TagMatch = (typeof tagMatches)[number][0];
