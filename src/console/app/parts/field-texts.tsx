import type { ComponentChildren } from 'preact';
import { ErrorText } from './error-text.tsx';

interface Texts {
  error: string | undefined;
  hint: ComponentChildren;
}

/** The value of `aria-describedby` of the control that has this id and `FieldTexts` below it. */
export function describedBy(id: string, { error, hint }: Texts): string | undefined {
  const ids = [error !== undefined && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean);
  return ids.length === 0 ? undefined : ids.join(' ');
}

/** The error and the hint of a field. */
export const FieldTexts = ({ id, error, hint }: Texts & { id: string }) => (
  <>
    <ErrorText id={`${id}-error`}>{error}</ErrorText>
    {hint !== undefined && (
      <div class="hint" id={`${id}-hint`}>
        {hint}
      </div>
    )}
  </>
);
