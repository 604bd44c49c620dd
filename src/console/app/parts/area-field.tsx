import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { describedBy, FieldTexts } from './field-texts.tsx';

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
  return (
    <div class="stack gap-xs field">
      <label for={id}>{label}</label>
      <textarea
        class="note"
        dir="auto"
        id={id}
        rows={3}
        maxLength={maxLength}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error !== undefined}
        aria-describedby={describedBy(id, { error, hint })}
      />
      <FieldTexts id={id} error={error} hint={hint} />
    </div>
  );
}
