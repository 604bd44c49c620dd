import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

interface Props {
  title: string;
  /** Open from the beginning. */
  isUsed: boolean;
  /** Opens it, so that the error is seen. */
  hasError: boolean;
  children: ComponentChildren;
}

/** Settings that few codes need, closed until they are. */
export function More({ title, isUsed, hasError, children }: Props) {
  const [isOpen, setIsOpen] = useState(isUsed);
  useLayoutEffect(() => {
    if (hasError) setIsOpen(true);
  }, [hasError]);
  return (
    <details class="card more" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <h2>{title}</h2>
      </summary>
      <div class="stack more-fields">{children}</div>
    </details>
  );
}
