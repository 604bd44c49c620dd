import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** The page's title, also as the browser tab's title, with the page's actions. */
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
  useLayoutEffect(() => {
    // The link that was clicked is gone, and the focus with it: focusing the title makes screen readers announce the page.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${title} · Scanlog`;
  }, [title]);
  return (
    <header class="row between gap-l heading">
      <div class="row">
        <h1 ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h1>
        {lead !== undefined && <div class="lead">{lead}</div>}
      </div>
      {children !== undefined && <div class="row actions">{children}</div>}
    </header>
  );
}
