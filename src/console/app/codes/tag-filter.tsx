import { useResource } from '../resource.ts';
import { setQuery } from '../router.ts';
import type { Tags } from '../types.ts';

/** Narrows the list to a tag; nothing while there are no tags. */
export function TagFilter({ value }: { value: string | undefined }) {
  const { data } = useResource<Tags>('/tags', { refreshIntervalMs: 15_000 });
  const tags = data?.data ?? [];
  if (tags.length === 0 && value === undefined) return null;
  return (
    <select
      class="tag-filter"
      aria-label="Tag"
      value={value ?? ''}
      onChange={(event) => setQuery({ tag: event.currentTarget.value, page: undefined })}
    >
      <option value="">All tags</option>
      {value !== undefined && !tags.some(({ tag }) => tag === value) && <option value={value}>{value}</option>}
      {tags.map(({ tag, qrcodes }) => (
        <option key={tag} value={tag}>
          {tag} ({qrcodes})
        </option>
      ))}
    </select>
  );
}
