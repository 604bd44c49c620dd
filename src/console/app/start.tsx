import { type ComponentType, render } from 'preact';
import { showTimesIn } from './format.ts';
import { homePath } from './permissions.tsx';
import { currentMode, interceptLinks, pageUrl, useRoute } from './router.ts';
import { Shell } from './shell.tsx';
import { accountTimeZone, hasMode, useBootstrapChanges } from './welcome.ts';

type Pages = ComponentType<{ path: string }>;

function Console({ pages: Page }: { pages: Pages }) {
  // Another time zone is on every page, and the person's name at the top.
  useBootstrapChanges();
  const { path, mode } = useRoute();
  return (
    <Shell path={path} mode={mode}>
      <Page key={mode} path={path} />
    </Shell>
  );
}

/** Renders the pages of a script into the document. */
export function start(pages: Pages): void {
  // Without a key for the current mode there is nothing to show: switch to the other mode.
  if (!hasMode(currentMode())) location.replace(pageUrl('/', currentMode() === 'live' ? 'test' : 'live'));
  // The list of codes is the home page, except with a key that may not read codes.
  else if (location.pathname === pageUrl('/') && homePath() !== '/') location.replace(pageUrl(homePath()));
  else {
    showTimesIn(accountTimeZone);
    interceptLinks();
    const root = document.getElementById('console');
    if (root !== null) render(<Console pages={pages} />, root);
  }
}
