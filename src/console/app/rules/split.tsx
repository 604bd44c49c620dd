import { maxVariants, minVariants } from '../../../../events/targeting/targeting-words.ts';
import { Icon } from '../icons.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { Field } from '../parts/field.tsx';
import { errorOf } from '../parts/field-errors.ts';
import type { FieldErrors } from '../parts/use-action.ts';
import { type VariantForm, withVariant } from './form.ts';
import { sharesOf } from './sentence.ts';

interface Props {
  split: VariantForm[];
  onSplit(split: VariantForm[]): void;
  /** Such as `rules[2].split`. */
  path: string;
  errors: FieldErrors;
}

const letterOf = (i: number) => String.fromCharCode(65 + i);

/** The variants of an A/B split with their shares. */
export function Split({ split, onSplit, path, errors }: Props) {
  const shares = sharesOf(split.map(({ weight }) => Math.max(0, Number(weight) || 0)));
  const set = (key: number, change: Partial<VariantForm>) =>
    onSplit(split.map((variant) => (variant.key === key ? { ...variant, ...change } : variant)));
  return (
    <div class="stack">
      <div class="shares" aria-hidden="true">
        {split.map(({ key }, i) => (
          <span key={key} style={{ flexGrow: shares[i] ?? 0 }}>
            {letterOf(i)}
          </span>
        ))}
      </div>
      <ol class="stack">
        {split.map(({ key, name, weight, destination }, i) => (
          <li key={key}>
            <fieldset class="variant">
              <legend>
                Variant {letterOf(i)} <span class="muted">gets {shares[i]}%</span>
              </legend>
              <Field
                label="Destination"
                inputMode="url"
                isCode
                placeholder="https://example.com/menu"
                value={destination}
                onValue={(value) => set(key, { destination: value })}
                error={errorOf(errors, `${path}[${i}].destination_url`)}
              />
              <Field
                label="Name"
                placeholder={`Variant ${letterOf(i)}`}
                value={name}
                onValue={(value) => set(key, { name: value })}
                error={errorOf(errors, `${path}[${i}].name`)}
              />
              <Field
                label="Weight"
                inputMode="numeric"
                value={weight}
                onValue={(value) => set(key, { weight: value })}
                error={errorOf(errors, `${path}[${i}].weight`)}
              />
              {split.length > minVariants && (
                <button
                  type="button"
                  class="plain"
                  aria-label={`Remove variant ${letterOf(i)}`}
                  onClick={() => onSplit(split.filter((variant) => variant.key !== key))}
                >
                  <Icon name="close" />
                </button>
              )}
            </fieldset>
          </li>
        ))}
      </ol>
      <div class="row actions">
        {split.length < maxVariants && (
          <button type="button" class="button small" onClick={() => onSplit(withVariant(split))}>
            <Icon name="plus" />
            Add variant
          </button>
        )}
        {new Set(split.map(({ weight }) => weight)).size > 1 && (
          <button
            type="button"
            class="button small"
            onClick={() => onSplit(split.map((variant) => ({ ...variant, weight: '50' })))}
          >
            Same share for all
          </button>
        )}
        <span class="hint">A visitor always gets the same variant.</span>
      </div>
      <ErrorText>{errorOf(errors, path)}</ErrorText>
    </div>
  );
}
