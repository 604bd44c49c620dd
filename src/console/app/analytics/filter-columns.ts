/** Columns that a click on one of their values filters by. */
export const filterColumns = ['country', 'city', 'device', 'browser'] as const;
export type FilterColumn = (typeof filterColumns)[number];
