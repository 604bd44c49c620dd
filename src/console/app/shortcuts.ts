import { useLayoutEffect } from 'preact/hooks';
import { navigate, pageUrl } from './router.ts';
import { stored } from './stored.ts';

/** The search field of the list of codes. */
export const searchFieldId = 'search-codes';

/** Keys of the console and what they do, for people. */
export const keyHelp: readonly (readonly [keys: string[], action: string])[] = [
  [['Ctrl K', '⌘ K'], 'Search pages, codes and actions'],
  [['/'], 'Search the list of codes'],
  [['c'], 'Create a code'],
  [['j'], 'Next code of the list'],
  [['k'], 'Previous code of the list'],
  [['Enter'], 'Open the code'],
  [['?'], 'Show these keys'],
];

/** Single letters disturb people who speak to their computer, so they can be turned off. */
export const singleKeys = stored('keys', (value) => value !== false);

const typing = 'input:not([type=checkbox], [type=radio], [type=range]), select, textarea';

/** Whether a key belongs to a field, a dialog or the browser. */
const isTaken = ({ target, defaultPrevented, isComposing }: KeyboardEvent) =>
  defaultPrevented ||
  isComposing ||
  (target instanceof HTMLElement && (target.isContentEditable || target.matches(typing))) ||
  document.querySelector('dialog[open]') !== null;

interface Overlays {
  openPalette(): void;
  openKeys(): void;
}

/** Handles the keys of the whole console. Nothing happens while a field has the focus or a dialog is open. */
export function useShortcuts({ openPalette, openKeys }: Overlays): void {
  useLayoutEffect(() => {
    const actions: Record<string, () => void> = {
      '/': () => {
        const field = document.getElementById(searchFieldId);
        if (field === null) openPalette();
        else field.focus();
      },
      c: () => navigate(pageUrl('/codes/new')),
      j: () => moveToRow(1),
      k: () => moveToRow(-1),
      '?': openKeys,
    };
    const handle = (event: KeyboardEvent) => {
      if (isTaken(event) || event.altKey) return;
      const hasModifier = event.ctrlKey || event.metaKey;
      const isPalette = hasModifier && !event.shiftKey && event.key.toLowerCase() === 'k';
      const action = isPalette ? openPalette : hasModifier || !singleKeys.read() ? undefined : actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, []);
}

/** Focuses the link of the next or previous code in the list; Enter then opens it. */
function moveToRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.codes .name')];
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step;
  links[next]?.focus();
  links[next]?.closest('tr')?.scrollIntoView({ block: 'nearest' });
}
