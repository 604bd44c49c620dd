import type { ComponentProps } from 'preact';
import { problemWithName } from '../../../../events/fields.ts';
import { Icon } from '../icons.tsx';
import { Field } from '../parts/field.tsx';
import type { FieldErrors } from '../parts/use-action.ts';
import { bootstrap } from '../welcome.ts';
import { readDestination } from './destination.ts';

type Props = Omit<ComponentProps<typeof Field>, 'label' | 'inputMode' | 'isCode'>;

/** The field of a destination, with a warning about an address that visitors cannot reach. */
export function DestinationField({ hint, ...props }: Props) {
  const { warning } = parseDestination(props.value);
  return (
    <Field
      {...props}
      label="Destination"
      inputMode="url"
      isCode
      hint={
        <>
          {warning !== undefined && (
            <span class="row nowrap verdict bad" role="status">
              <Icon name="warning" />
              {warning}
            </span>
          )}
          {hint}
        </>
      }
    />
  );
}

export const parseDestination = (text: string) => readDestination(text, bootstrap.short_base_url, location.origin);

/** Validates a code's name and destination with the server's rules before they are sent. */
export function validateFields(name: string, destination: string): FieldErrors {
  const nameError = problemWithName(name);
  const destinationError = parseDestination(destination).error;
  return {
    ...(nameError === undefined ? {} : { name: name.trim() === '' ? 'Enter a name.' : `The name ${nameError}.` }),
    ...(destinationError === undefined ? {} : { destination_url: destinationError }),
  };
}
