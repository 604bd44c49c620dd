import { useId } from 'preact/hooks';

interface Props<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onValue(value: T): void;
}

/** A radio group shown as a segmented control. */
export function Segments<T extends string>({ label, options, value, onValue }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class="hidden">{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onValue(option)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
