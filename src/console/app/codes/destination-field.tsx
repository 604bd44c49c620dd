import type { ComponentProps } from 'preact';
import { problemWithDestination, problemWithName } from '../../../../events/fields.ts';
import { Field } from '../parts/field.tsx';
import type { FieldErrors } from '../parts/use-action.ts';
import { bootstrap } from '../welcome.ts';
import { withScheme } from './destination.ts';

export const DestinationField = (props: Omit<ComponentProps<typeof Field>, 'label' | 'inputMode' | 'isCode'>) => (
  <Field {...props} label="Destination" inputMode="url" isCode />
);

/** Validates a code's name and destination with the server's rules before they are sent. */
export function validateFields(name: string, destination: string): FieldErrors {
  const nameError = problemWithName(name);
  const destinationError = problemWithDestination(withScheme(destination), bootstrap.short_base_url, location.origin);
  return {
    ...(nameError === undefined ? {} : { name: `The name ${nameError}.` }),
    ...(destinationError === undefined ? {} : { destination_url: `The destination ${destinationError}.` }),
  };
}
