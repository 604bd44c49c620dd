import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  label: string;
  value: string;
  onValue(value: string): void;
  error?: string | undefined;
  hint?: ComponentChildren;
  maxLength?: number;
}

/** A labeled text of several lines with a hint and an error. */
export function AreaField({ label, value, onValue, error, hint, maxLength }: Props) {
  const id = useId();
  const describedBy = [error === undefined ? '' : `${id}-error`, hint === undefined ? '' : `${id}-hint`]
    .join(' ')
    .trim();
  return (
    <div class="stack gap-xs field">
      <label for={id}>{label}</label>
      <textarea
        class="note"
        id={id}
        rows={3}
        maxLength={maxLength}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error !== undefined}
        aria-describedby={describedBy === '' ? undefined : describedBy}
      />
      {error !== undefined && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}
