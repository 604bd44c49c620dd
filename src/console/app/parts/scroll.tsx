import type { ComponentChildren } from 'preact';

/** What may be wider than the screen. It takes the focus, since a keyboard has no other way to scroll it. */
export const Scroll = ({
  label,
  isCard,
  children,
}: {
  label: string;
  isCard?: boolean;
  children: ComponentChildren;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  <section class={isCard ? 'scroll card' : 'scroll'} aria-label={label} tabIndex={0}>
    {children}
  </section>
);
