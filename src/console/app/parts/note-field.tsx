import { useId } from 'preact/hooks';
import { maxNoteLength } from '../../../../events/fields.ts';

interface Props {
  value: string;
  onValue(value: string): void;
  error?: string | undefined;
}

/** The note of a code: a text of several lines. */
export function NoteField({ value, onValue, error }: Props) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>Note</label>
      <textarea
        class="note"
        id={id}
        rows={3}
        maxLength={maxNoteLength}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? `${id}-hint` : `${id}-error ${id}-hint`}
      />
      {error !== undefined && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      <div class="hint" id={`${id}-hint`}>
        Optional, such as where the code is printed. Visitors do not see it.
      </div>
    </div>
  );
}
