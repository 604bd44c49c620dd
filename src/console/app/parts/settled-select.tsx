import { useEffect, useRef, useState } from 'preact/hooks';

const settleMs = 300;

interface Props {
  label: string;
  options: readonly (readonly [value: string, text: string])[];
  value: string;
  onValue(value: string): void;
}

/** A select whose arrow keys pass over options: only the one that they stop at is chosen. */
export function SettledSelect({ label, options, value, onValue }: Props) {
  const [passed, setPassed] = useState<string>();
  const isByKey = useRef(false);
  useEffect(() => {
    if (passed === undefined) return undefined;
    const timer = setTimeout(() => {
      setPassed(undefined);
      onValue(passed);
    }, settleMs);
    return () => clearTimeout(timer);
  }, [passed]);
  return (
    <select
      aria-label={label}
      value={passed ?? value}
      onKeyDown={() => {
        isByKey.current = true;
      }}
      onPointerDown={() => {
        isByKey.current = false;
      }}
      onChange={(event) => {
        if (isByKey.current) setPassed(event.currentTarget.value);
        else onValue(event.currentTarget.value);
      }}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}
