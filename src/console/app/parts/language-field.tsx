import { useId } from 'preact/hooks';
import { defaultLanguage, type Language, languages } from '../../../../events/languages.ts';
import { ErrorText } from './error-text.tsx';

/** Each language by its own name. */
const names = languages.map((tag) => [tag, new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag] as const);

/** The first language of this browser among those that are offered. */
export const browserLanguage = (offered: readonly Language[] = languages): Language =>
  navigator.languages.flatMap((tag) => offered.find((one) => one === tag.split('-')[0]?.toLowerCase()) ?? [])[0] ??
  defaultLanguage;

interface Props {
  value: Language;
  onValue(language: Language): void;
  error?: string | undefined;
  hint?: string;
}

/** The language in which something is written to others. */
export function LanguageField({ value, onValue, error, hint }: Props) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>Language</label>
      <select
        id={id}
        value={value}
        onChange={(event) => onValue(event.currentTarget.value as Language)}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
      >
        {names.map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
      <ErrorText id={`${id}-error`}>{error}</ErrorText>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}
