import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

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
  useEffect(() => {
    document.title = `${title} · Scanlog`;
  }, [title]);
  return (
    <header class="heading">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {lead !== undefined && <div class="lead">{lead}</div>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  );
}
