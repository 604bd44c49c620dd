import { useId } from 'preact/hooks';
import { toIso, toLocal } from '../rules/zoned-time.ts';
import { ErrorText } from './error-text.tsx';

interface Props {
  label: string;
  /** An ISO timestamp, or empty. */
  value: string;
  onValue(iso: string): void;
  timeZone: string;
  error?: string | undefined;
}

/** A date and time in a time zone, chosen on a calendar. */
export function TimeField({ label, value, onValue, timeZone, error }: Props) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        value={toLocal(value, timeZone)}
        onInput={(event) => onValue(toIso(event.currentTarget.value, timeZone))}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
      />
      <ErrorText id={`${id}-error`}>{error}</ErrorText>
    </div>
  );
}
