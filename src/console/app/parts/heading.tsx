import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** What a page is called, on it and in the browser's tab, and what can be done there. */
export function Heading({
  title,
  children,
  lead,
}: {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The link that led here is gone, and the focus with it: who uses a screen reader should hear where they are.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${title} · Scanlog`;
  }, [title]);
  return (
    <header class="heading">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead !== undefined && <div class="lead">{lead}</div>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  );
}
