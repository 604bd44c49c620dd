import { useLayoutEffect, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { pageUrl } from '../router.ts';

export interface SideLink {
  path: string;
  text: string;
}

interface Props {
  label: string;
  groups: readonly { title?: string; links: readonly SideLink[] }[];
  /** The path of the page that is shown. */
  current: string;
}

/** Links to the parts of a page, beside them. A phone shows them above, when their button is pressed. */
export function SideLinks({ label, groups, current }: Props) {
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => setOpen(false), [current]);
  const links = groups.flatMap((group) => [...group.links]);
  return (
    <nav class="sections" aria-label={label}>
      <button type="button" class="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {links.find(({ path }) => path === current)?.text ?? label}
        <Icon name="expand" />
      </button>
      <div class={isOpen ? 'open' : undefined}>
        {groups.map((group, i) => (
          <div key={group.title ?? i}>
            {group.title !== undefined && <p class="hint">{group.title}</p>}
            {group.links.map(({ path, text }) => (
              <a key={path} href={pageUrl(path)} aria-current={path === current ? 'page' : undefined}>
                {text}
              </a>
            ))}
          </div>
        ))}
      </div>
    </nav>
  );
}
