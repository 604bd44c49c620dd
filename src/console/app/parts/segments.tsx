import { useId, useState } from 'preact/hooks';

interface Props<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onValue(value: T): void;
}

/** A radio group shown as a segmented control. */
export function Segments<T extends string>({ label, options, value, onValue }: Props<T>) {
  const name = useId();
  // The owner of the value may keep it, while the browser has moved the mark already.
  const [, renderAgain] = useState(0);
  const choose = (option: T) => {
    onValue(option);
    renderAgain((count) => count + 1);
  };
  return (
    <fieldset class="segments">
      <legend class="hidden">{label}</legend>
      {options.map(([option, text]) => (
        <label key={option} class="option">
          <input type="radio" name={name} checked={option === value} onChange={() => choose(option)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
