import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  label: string;
  value: string;
  onValue(value: string): void;
  fault?: string | undefined;
  hint?: ComponentChildren;
  /** What stands before the value and cannot be changed. */
  prefix?: string;
  inputMode?: 'url' | 'numeric';
  placeholder?: string;
  /** Whether it is no prose: a browser must not correct it. */
  isCode?: boolean;
  maxLength?: number;
}

/** One line to fill in, with what it is for and what is wrong with it. */
export function Field({ label, value, onValue, fault, hint, prefix, isCode, ...input }: Props) {
  const id = useId();
  const described = [fault === undefined ? '' : `${id}-fault`, hint === undefined ? '' : `${id}-hint`].join(' ').trim();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class={prefix === undefined ? 'input' : 'input prefixed'}>
        {prefix !== undefined && <span aria-hidden="true">{prefix}</span>}
        <input
          {...input}
          {...(isCode ? { spellcheck: false, autocapitalize: 'none' } : {})}
          type="text"
          autocomplete="off"
          id={id}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          aria-invalid={fault !== undefined}
          aria-describedby={described === '' ? undefined : described}
        />
      </div>
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`} role="alert">
          {fault}
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
