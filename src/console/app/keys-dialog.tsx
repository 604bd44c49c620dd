import { Dialog } from './parts/dialog.tsx';
import { keyHelp, singleKeys } from './shortcuts.ts';

/** The keys of the console, and whether single letters are among them. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  const isOn = singleKeys.use();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {keyHelp.map(([keys, action]) => (
          <div key={action} class="row nowrap between">
            <dt>{action}</dt>
            <dd class="row nowrap gap-xs">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <label class="row nowrap check">
        <input type="checkbox" checked={isOn} onChange={(event) => singleKeys.write(event.currentTarget.checked)} />
        <span>
          Use single keys<span class="hint">Ctrl K and ⌘ K work without them.</span>
        </span>
      </label>
    </Dialog>
  );
}
