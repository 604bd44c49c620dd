import { Toggles } from '../parts/choices.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import type { ListedQrCode } from '../types.ts';
import { useMarks } from './marks.ts';

export interface TagChange {
  add: string[];
  remove: string[];
}

export const noTagChange: TagChange = { add: [], remove: [] };

/** As many as the service reads marks of at once. */
const maxRead = 100;

interface Props {
  codes: ListedQrCode[];
  tags: TagChange;
  onTags(tags: TagChange): void;
  error?: string | undefined;
}

/** Tags that several codes get, and those of theirs that they lose. */
export function TagChanges({ codes, tags, onTags, error }: Props) {
  const { marks } = useMarks(codes.slice(0, maxRead));
  const present = [...new Set([...marks.values()].flatMap((mark) => mark.tags))].sort();
  return (
    <>
      <TagsField
        label="Tags to add"
        tags={tags.add}
        onTags={(add) => onTags({ ...tags, add })}
        error={error}
        hint="Press Enter after each tag."
      />
      {present.length > 0 && (
        <div class="stack gap-xs field">
          <span class="label" aria-hidden="true">
            Tags to remove
          </span>
          <Toggles
            label="Tags to remove"
            choices={present.map((tag) => [tag, tag])}
            values={tags.remove}
            onValues={(remove) => onTags({ ...tags, remove })}
          />
        </div>
      )}
    </>
  );
}
