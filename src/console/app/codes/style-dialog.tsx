import { api } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import type { QrCode } from '../types.ts';
import { CodeSearch } from './code-search.tsx';

const maxListed = 20;

interface Props {
  onChoose(code: QrCode): void;
  onClose(): void;
}

/** Chooses the code whose style others get, by how it looks. */
export function StyleDialog({ onChoose, onClose }: Props) {
  const { busy, run } = useAction();
  return (
    <Dialog title="Use the style of a code" onClose={onClose}>
      <CodeSearch limit={maxListed} class="grid gap-s columns-xs style-sources">
        {({ id, name }) => (
          <button
            type="button"
            class="tile stack gap-xs"
            disabled={busy}
            onClick={() => run(async () => onChoose(await api.get<QrCode>(`/qrcodes/${id}`)))}
          >
            <img src={`/images/${id}/public?size=128`} alt="" width="80" height="80" loading="lazy" />
            <span class="clip" dir="auto">
              {name}
            </span>
          </button>
        )}
      </CodeSearch>
    </Dialog>
  );
}
