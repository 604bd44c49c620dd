import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { maxSearchLength } from './codes/listing.ts';
import { Icon } from './icons.tsx';
import { codeItem, fixedItems, type Item, matches } from './palette-items.ts';
import { Dialog } from './parts/dialog.tsx';
import { may } from './permissions.tsx';
import { useResource } from './resource.ts';
import { useRoute } from './router.ts';
import { useTheme } from './theme.ts';
import type { ListedQrCode, Page } from './types.ts';

const maxCodes = 8;
const searchDelayMs = 150;

/** The value, once it has stayed the same for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), searchDelayMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Finds pages, codes, views and actions by what is typed. Arrow keys choose one, and Enter opens it. */
export function Palette({ onClose, openKeys }: { onClose(): void; openKeys(): void }) {
  const { mode } = useRoute();
  const theme = useTheme();
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const wanted = text.trim().slice(0, maxSearchLength);
  const searched = useSettled(wanted);
  const found = useResource<Page<ListedQrCode>>(searched === '' || !may('codes.read') ? undefined : '/qrcodes', {
    query: { q: searched, limit: maxCodes },
  });
  const isSearching = wanted !== '' && found.error === undefined && (wanted !== searched || found.loading);
  // Results of an earlier text are not shown: Enter would open one that the user has not searched for.
  const codes = wanted === '' || wanted !== searched || found.loading ? [] : (found.data?.data ?? []);
  const items = [
    ...codes.map(codeItem),
    ...fixedItems({ mode, theme, openKeys }).filter((item) => wanted === '' || matches(item, wanted)),
  ];
  const chosen = Math.min(active, items.length - 1);
  const run = (item: Item | undefined) => {
    if (item === undefined) return;
    onClose();
    item.run();
  };
  const id = useId();
  return (
    <Dialog title="Search and commands" onClose={onClose}>
      <div class="input search palette-search">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          aria-label="Search pages, codes and actions"
          aria-expanded={items.length > 0}
          aria-controls={`${id}-items`}
          aria-autocomplete="list"
          aria-activedescendant={items.length === 0 ? undefined : `${id}-${chosen}`}
          placeholder="A code, a page or an action"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={(event) => {
            if (event.isComposing) return;
            if (event.key === 'ArrowDown') setActive((chosen + 1) % Math.max(1, items.length));
            else if (event.key === 'ArrowUp') setActive((chosen - 1 + items.length) % Math.max(1, items.length));
            else if (event.key === 'Enter') run(items[chosen]);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <Results id={id} items={items} chosen={chosen} onRun={run} />
      <p class="hint" role="status">
        {found.error !== undefined
          ? found.error.message
          : isSearching
            ? 'Searching codes…'
            : items.length === 0
              ? 'Nothing found.'
              : ''}
      </p>
    </Dialog>
  );
}

interface ResultsProps {
  id: string;
  items: Item[];
  chosen: number;
  onRun(item: Item): void;
}

/** The options by group. The focus stays in the field, which names the chosen one. */
function Results({ id, items, chosen, onRun }: ResultsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, items.length]);
  if (items.length === 0) return null;
  const groups = Map.groupBy(
    items.map((item, index) => ({ item, index })),
    ({ item }) => item.group,
  );
  return (
    <div ref={list} class="palette" role="listbox" id={`${id}-items`} aria-label="Results">
      {[...groups].map(([group, entries]) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be in a list box
        <div key={group} role="group" aria-label={group}>
          <p class="hint" role="presentation">
            {group}
          </p>
          {entries.map(({ item, index }) => (
            // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: keys are handled by the field
            <div
              key={`${item.label} ${item.hint}`}
              id={`${id}-${index}`}
              class="row nowrap between"
              role="option"
              aria-selected={index === chosen}
              onClick={() => onRun(item)}
            >
              <span class="clip" dir="auto">
                {item.label}
              </span>
              {item.hint !== undefined && <span class="hint clip">{item.hint}</span>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
