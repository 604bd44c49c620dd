import { maxNoteLength } from '../../../../events/fields.ts';
import { AreaField } from './area-field.tsx';

interface Props {
  value: string;
  onValue(value: string): void;
  error?: string | undefined;
}

/** The note of a code: a text of several lines. */
export const NoteField = (props: Props) => (
  <AreaField
    {...props}
    label="Note"
    maxLength={maxNoteLength}
    hint="Optional, such as where the code is printed. Visitors do not see it."
  />
);
