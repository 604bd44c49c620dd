import type { ComponentProps } from 'preact';
import { faultOfDestination, faultOfName } from '../../../../events/fields.ts';
import { Field } from '../parts/field.tsx';
import type { Faults } from '../parts/use-action.ts';
import { welcome } from '../welcome.ts';
import { completed } from './destination.ts';

/** Where a code leads, to fill in. */
export const DestinationField = (props: Omit<ComponentProps<typeof Field>, 'label' | 'inputMode' | 'isCode'>) => (
  <Field {...props} label="Destination" inputMode="url" isCode />
);

/** What is wrong with a code's name and destination, in words, before the server is asked. */
export function faultsOf(name: string, destination: string): Faults {
  const wrongName = faultOfName(name);
  const wrongDestination = faultOfDestination(completed(destination), welcome.short_base_url, location.origin);
  return {
    ...(wrongName === undefined ? {} : { name: `The name ${wrongName}.` }),
    ...(wrongDestination === undefined ? {} : { destination_url: `The destination ${wrongDestination}.` }),
  };
}
