import { useId } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface Props {
  values: readonly string[];
  onValues(values: string[]): void;
  choices: readonly (readonly [value: string, name: string])[];
}

/** Several of a few choices, shown as buttons that are pressed or not. */
export const Toggles = ({ label, values, onValues, choices }: Props & { label: string }) => (
  <fieldset class="row">
    <legend class="hidden">{label}</legend>
    {choices.map(([value, name]) => (
      <label key={value} class="option tile pill">
        <input
          type="checkbox"
          checked={values.includes(value)}
          onChange={(event) =>
            onValues(
              event.currentTarget.checked
                ? // In the order of the choices.
                  choices.map(([choice]) => choice).filter((choice) => choice === value || values.includes(choice))
                : values.filter((other) => other !== value),
            )
          }
        />
        <span dir="auto">{name}</span>
      </label>
    ))}
  </fieldset>
);

interface PickerProps extends Props {
  /** Such as "Add country". */
  label: string;
  nameOf(value: string): string;
  isInvalid: boolean;
}

/** Several of many choices: those that are chosen, and a list to add one. */
export function Picker({ label, values, onValues, choices, nameOf, isInvalid }: PickerProps) {
  const id = useId();
  return (
    <div class="row">
      {values.map((value) => (
        <Chip key={value} name={nameOf(value)} onRemove={() => onValues(values.filter((other) => other !== value))} />
      ))}
      <label class="hidden" for={id}>
        {label}
      </label>
      <select
        id={id}
        value=""
        aria-invalid={isInvalid}
        onChange={(event) => {
          const { value } = event.currentTarget;
          event.currentTarget.value = '';
          if (value !== '') onValues([...values, value]);
        }}
      >
        <option value="">{label}…</option>
        {choices
          .filter(([value]) => !values.includes(value))
          .map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
      </select>
    </div>
  );
}

export const Chip = ({ name, onRemove }: { name: string; onRemove(): void }) => (
  <span class="row nowrap gap-none pill chip">
    <span dir="auto">{name}</span>
    <button type="button" class="plain" aria-label={`Remove ${name}`} onClick={onRemove}>
      <Icon name="close" />
    </button>
  </span>
);
