import type { ComponentChildren } from 'preact';

/** A horizontally scrollable region. It is focusable, since keyboard users cannot scroll it otherwise. */
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
