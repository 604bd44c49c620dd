import { useLayoutEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { errorAt } from '../parts/field-errors.ts';
import { TagsField } from '../parts/tags-field.tsx';
import { useAction } from '../parts/use-action.ts';
import { may } from '../permissions.tsx';
import type { QrCode } from '../types.ts';

/** The tags of a code; each change is saved at once. */
export function CodeTags({ code, onChange }: { code: QrCode; onChange(): Promise<void> }) {
  const saved = code.tags ?? [];
  const [tags, setTags] = useState(saved);
  const { errors, run } = useAction(['tags']);
  useLayoutEffect(() => setTags(saved), [JSON.stringify(saved)]);
  const save = (next: string[]) =>
    run(async () => {
      setTags(next);
      try {
        await api.patch(`/qrcodes/${code.id}`, { tags: next });
      } catch (error) {
        setTags(saved);
        throw error;
      }
      await onChange();
    });
  if (!may('codes.write'))
    return (
      <div class="row">
        {saved.map((tag) => (
          <span key={tag} class="tag" dir="auto">
            {tag}
          </span>
        ))}
      </div>
    );
  return <TagsField label="Tags" isLabelHidden tags={tags} onTags={save} error={errorAt(errors, 'tags')} />;
}
