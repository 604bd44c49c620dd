import { useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { useResource } from '../resource.ts';
import { navigate, urlWith } from '../router.ts';
import type { Tags } from '../types.ts';
import { type TagMatch, tagMatches } from './filter-columns.ts';
import { tagsParameter } from './filters.ts';

interface Props {
  selected: string[];
  match: TagMatch;
}

/** A button that says which tags the codes have, and a dialog to select them; nothing while there are no tags. */
export function TagPicker({ selected, match }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const tags = useResource<Tags>('/tags').data?.data ?? [];
  if (tags.length === 0 && selected.length === 0) return null;
  return (
    <>
      <button type="button" class="button" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        {selected.length === 0 ? 'All tags' : plural(selected.length, 'tag')}
        <span aria-hidden="true">▾</span>
      </button>
      {isOpen && <TagsDialog tags={tags} selected={selected} match={match} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function TagsDialog({ tags, selected, match, onClose }: Props & { tags: Tags['data']; onClose(): void }) {
  const [chosen, setChosen] = useState(new Set(selected));
  const [chosenMatch, setChosenMatch] = useState(match);
  const toggle = (tag: string) => {
    const next = new Set(chosen);
    if (!next.delete(tag)) next.add(tag);
    setChosen(next);
  };
  const show = (shown: Iterable<string>) => {
    const list = [...shown];
    const isAll = list.length > 1 && chosenMatch === 'all';
    navigate(urlWith({ tags: tagsParameter(list), match: isAll ? 'all' : undefined, page: undefined }));
    onClose();
  };
  return (
    <Dialog title="Choose tags" onClose={onClose}>
      <Form onSubmit={() => show(chosen)}>
        <ul class="choices" aria-label="Tags">
          {tags.map(({ tag, qrcodes }) => (
            <li key={tag}>
              <label class="row nowrap">
                <input type="checkbox" checked={chosen.has(tag)} onChange={() => toggle(tag)} />
                <span class="clip" dir="auto">
                  {tag}
                </span>
                <span class="hint">{plural(qrcodes, 'code')}</span>
              </label>
            </li>
          ))}
        </ul>
        {chosen.size > 1 && (
          <Segments
            label="Codes that have"
            options={tagMatches}
            value={chosenMatch}
            onValue={(value) => setChosenMatch(value === 'all' ? 'all' : 'any')}
          />
        )}
        <DialogActions onCancel={onClose}>
          <button type="button" class="button" disabled={selected.length === 0} onClick={() => show([])}>
            All tags
          </button>
          <button type="submit" class="button primary" disabled={chosen.size === 0}>
            Show {plural(chosen.size, 'tag')}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
