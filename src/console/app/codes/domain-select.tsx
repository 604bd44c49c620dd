import { may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { currentMode } from '../router.ts';
import type { Domain } from '../types.ts';

/** The domains of the account on which codes can be created; none for a key that may not read them, such as a test key. */
export function useDomains(): Domain[] {
  const { data } = useResource<{ data: Domain[] }>(
    currentMode() === 'live' && may('account.read') ? '/domains' : undefined,
  );
  return data?.data.filter(({ status }) => status === 'active') ?? [];
}

interface Props {
  /** The name of the field, unless a label with its id has it. */
  label?: string;
  id?: string;
  /** What no domain means. */
  none: string;
  domains: Domain[];
  /** Empty for none. */
  value: string;
  onValue(name: string): void;
}

/** A choice of a custom domain; nothing while there are none. */
export function DomainSelect({ label, id, none, domains, value, onValue }: Props) {
  if (domains.length === 0 && value === '') return null;
  return (
    <select id={id} aria-label={label} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      <option value="">{none}</option>
      {value !== '' && !domains.some(({ name }) => name === value) && <option value={value}>{value}</option>}
      {domains.map(({ id, name }) => (
        <option key={id} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
