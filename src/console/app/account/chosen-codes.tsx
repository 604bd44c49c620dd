import { CodeChoices } from '../analytics/code-picker.tsx';
import { plural } from '../format.ts';
import { ErrorText } from '../parts/error-text.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Segments } from '../parts/segments.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import type { FieldErrors } from '../parts/use-action.ts';

/** The codes that a shared page, a report or an alert is about, as the user chooses them. */
export interface ChosenCodes {
  by: 'all' | 'codes' | 'tags';
  codes: ReadonlySet<string>;
  tags: string[];
}

/** As the API has it: at most one of the two. */
interface Stored {
  qr_ids: string[] | null;
  tags: string[] | null;
}

/** The choice of something that exists, or of a new one that begins with `by`. */
export const chosenOf = (stored: Stored | undefined, by: ChosenCodes['by']): ChosenCodes => ({
  by: stored?.qr_ids ? 'codes' : stored?.tags ? 'tags' : by,
  codes: new Set(stored?.qr_ids ?? []),
  tags: stored?.tags ?? [],
});

export const chosenErrors = ({ by, codes, tags }: ChosenCodes): FieldErrors => ({
  ...(by === 'codes' && codes.size === 0 ? { qr_ids: 'Choose at least one code.' } : {}),
  ...(by === 'tags' && tags.length === 0 ? { tags: 'Add at least one tag.' } : {}),
});

/** The field of a request that makes this choice. */
export const chosenBody = ({ by, codes, tags }: ChosenCodes): { qr_ids: string[] } | { tags: string[] } =>
  by === 'tags' ? { tags } : { qr_ids: [...codes] };

/** What something is about, such as `3 codes`. */
export const chosenText = ({ qr_ids, tags }: Stored): string =>
  qr_ids !== null ? plural(qr_ids.length, 'code') : tags !== null ? `codes with ${tags.join(', ')}` : 'all codes';

const some = [
  ['codes', 'Codes'],
  ['tags', 'Tags'],
] as const;
const allOrSome = [
  ['all', 'All codes'],
  ['codes', 'Some codes'],
  ['tags', 'Tags'],
] as const;

interface Props {
  label: string;
  /** Whether the choice can be all codes. */
  hasAll?: boolean;
  chosen: ChosenCodes;
  errors: FieldErrors;
  /** `field`: the field whose error may be gone. */
  onChosen(chosen: ChosenCodes, field: 'qr_ids' | 'tags'): void;
}

/** Codes, or tags of codes. */
export function ChosenCodesFields({ label, hasAll = false, chosen, errors, onChosen }: Props) {
  const set = (field: 'qr_ids' | 'tags', change: Partial<ChosenCodes>) => onChosen({ ...chosen, ...change }, field);
  return (
    <>
      <Segments<ChosenCodes['by']>
        label={label}
        options={hasAll ? allOrSome : some}
        value={chosen.by}
        onValue={(by) => set('qr_ids', { by })}
      />
      {chosen.by === 'codes' && (
        <>
          <CodeChoices chosen={chosen.codes} onChosen={(codes) => set('qr_ids', { codes })} />
          <ErrorText>{errorAt(errors, 'qr_ids')}</ErrorText>
        </>
      )}
      {chosen.by === 'tags' && (
        <TagsField
          label="Tags"
          tags={chosen.tags}
          onTags={(tags) => set('tags', { tags })}
          error={errorAt(errors, 'tags')}
          hint="All codes with one of these tags, also those that get it later."
        />
      )}
    </>
  );
}
