import { useResource } from '../resource.ts';
import type { Availability } from '../types.ts';

/** What the list shows of a code that items of the API's list do not have. */
export interface Mark {
  id: string;
  availability: Availability;
  tags: string[];
}

const refreshIntervalMs = 15_000;

/** Availability and tags of at most 100 codes, by their id. */
export function useMarks(codes: { id: string }[]): { marks: ReadonlyMap<string, Mark>; reload(): Promise<void> } {
  const ids = codes.map(({ id }) => id).join(',');
  const { data, reload } = useResource<{ data: Mark[] }>(ids === '' ? undefined : '/selection', {
    query: { ids },
    refreshIntervalMs,
  });
  return { marks: new Map(data?.data.map((mark) => [mark.id, mark])), reload };
}
