import { useId, useState } from 'preact/hooks';
import { spelledTags, spellingOf, tagsOf } from '../../../../events/tags.ts';
import { maxTagLength, maxTags } from '../../../../events/targeting/targeting-words.ts';
import { useResource } from '../resource.ts';
import type { Tags } from '../types.ts';
import { Chip } from './choices.tsx';
import { ErrorText } from './error-text.tsx';

interface Props {
  label: string;
  isLabelHidden?: boolean;
  tags: readonly string[];
  onTags(tags: string[]): void;
  error?: string | undefined;
  hint?: string;
}

/** Tags as chips, with a field that adds one by Enter, comma or leaving it, and suggests those in use. */
export function TagsField({ label, isLabelHidden = false, tags, onTags, error, hint }: Props) {
  const id = useId();
  const [text, setText] = useState('');
  const known = useResource<Tags>('/tags').data?.data ?? [];
  const add = (typed: string) => {
    const added = typed.split(/[,;]/).map(spellingOf).filter(Boolean);
    setText('');
    const next = spelledTags(tagsOf([...tags, ...added])) ?? [];
    if (next.length > tags.length) onTags(next);
  };
  return (
    <div class="stack gap-xs field">
      <label for={id} class={isLabelHidden ? 'hidden' : undefined}>
        {label}
      </label>
      <div class="row">
        {tags.map((tag) => (
          <Chip key={tag} name={tag} onRemove={() => onTags(tags.filter((other) => other !== tag))} />
        ))}
        {tags.length < maxTags && (
          <div class="input tag-input">
            <input
              id={id}
              type="text"
              value={text}
              list={`${id}-known`}
              placeholder="Add tag"
              maxLength={maxTagLength}
              autocomplete="off"
              autocapitalize="none"
              aria-invalid={error !== undefined}
              aria-describedby={error === undefined ? undefined : `${id}-error`}
              onInput={(event) => {
                const { value } = event.currentTarget;
                if (/[,;]/.test(value)) add(value);
                else setText(value);
              }}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && text.trim() !== '') {
                  event.preventDefault();
                  add(text);
                } else if (event.key === 'Backspace' && text === '' && tags.length > 0) onTags(tags.slice(0, -1));
              }}
              onBlur={() => add(text)}
            />
          </div>
        )}
        <datalist id={`${id}-known`}>
          {known
            .filter(({ tag }) => !tags.includes(tag))
            .map(({ tag }) => (
              <option key={tag} value={tag} />
            ))}
        </datalist>
      </div>
      <ErrorText id={`${id}-error`}>{error}</ErrorText>
      {hint !== undefined && <div class="hint">{hint}</div>}
    </div>
  );
}
