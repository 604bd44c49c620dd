import type { ComponentChildren } from 'preact';

interface Props {
  class?: string;
  onSubmit(): unknown;
  children: ComponentChildren;
}

/** A form that the page itself submits and validates. */
export const Form = ({ class: className, onSubmit, children }: Props) => (
  <form
    class={className ?? 'stack'}
    noValidate
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);
