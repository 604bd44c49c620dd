import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { describedBy, FieldTexts } from './field-texts.tsx';

/** Each apart, because the attributes that an input may have depend on its type. */
const types = { text: { type: 'text' }, email: { type: 'email' }, password: { type: 'password' } } as const;

export interface FieldProps {
  label: string;
  value: string;
  onValue(value: string): void;
  error?: string | undefined;
  hint?: ComponentChildren;
  /** Fixed text before the value. */
  prefix?: string;
  type?: keyof typeof types;
  /** What the browser may fill in. */
  autocomplete?: 'off' | 'name' | 'email' | 'current-password' | 'new-password' | 'one-time-code';
  inputMode?: 'url' | 'numeric';
  placeholder?: string;
  /** Turns off spell checking and auto-capitalization. */
  isCode?: boolean;
  maxLength?: number;
}

/** A labeled text input with a hint and an error. */
export function Field({
  label,
  value,
  onValue,
  error,
  hint,
  prefix,
  isCode,
  type = 'text',
  autocomplete = 'off',
  ...input
}: FieldProps) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>{label}</label>
      <div class={prefix === undefined ? 'input' : 'input prefixed'}>
        {prefix !== undefined && <span aria-hidden="true">{prefix}</span>}
        <input
          {...input}
          {...(isCode ? { spellcheck: false, autocapitalize: 'none' } : { dir: 'auto' })}
          {...types[type]}
          autocomplete={autocomplete}
          id={id}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          aria-invalid={error !== undefined}
          aria-describedby={describedBy(id, { error, hint })}
        />
      </div>
      <FieldTexts id={id} error={error} hint={hint} />
    </div>
  );
}
