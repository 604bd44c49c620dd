import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Copy } from '../parts/copy.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { Allowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { Share } from '../types.ts';
import { chosenText } from './chosen-codes.tsx';
import { ShareDialog } from './share-form.tsx';

type Opened = { kind: 'create' } | { kind: 'change' | 'end'; share: Share };

/** The public pages of statistics: create one, copy its link, change it, end it. */
export function Shares() {
  const shares = useResource<{ data: Share[] }>('/shares');
  const [open, setOpen] = useState<Opened>();
  if (shares.data === undefined) return <Loading error={shares.error} retry={shares.reload} />;
  const { data } = shares.data;
  const close = () => setOpen(undefined);
  return (
    <section aria-label="Shared pages">
      <div class="row gap-m toolbar">
        <p class="hint">
          Statistics for people without an account. Everyone who has the link can read the page. Figures of fewer than 5
          visitors are hidden.
        </p>
        <span class="spacer" />
        <Allowed scope="codes.write">
          <button type="button" class="button primary" onClick={() => setOpen({ kind: 'create' })}>
            <Icon name="plus" />
            Create page
          </button>
        </Allowed>
      </div>
      {data.length === 0 ? (
        <Empty title="No shared pages yet" />
      ) : (
        <ul class="card lines">
          {data.map((share) => (
            <ShareItem key={share.id} share={share} onOpen={(kind) => setOpen({ kind, share })} />
          ))}
        </ul>
      )}
      {open?.kind === 'create' && <ShareDialog onSaved={shares.reload} onClose={close} />}
      {open?.kind === 'change' && <ShareDialog share={open.share} onSaved={shares.reload} onClose={close} />}
      {open?.kind === 'end' && <EndDialog share={open.share} onDone={shares.reload} onClose={close} />}
    </section>
  );
}

const ShareItem = ({ share, onOpen }: { share: Share; onOpen(kind: 'change' | 'end'): void }) => (
  <li class="row between gap-l">
    <div class="wrapped">
      <strong dir="auto">{share.name}</strong> {share.has_password && <span class="badge">Password</span>}
      <p class="hint">
        {chosenText(share)} · created {date(share.created_at)}
        {share.expires_at !== null && ` · ends ${date(share.expires_at)}`}
      </p>
    </div>
    <span class="row actions">
      {share.url !== null && (
        <>
          <a class="button" href={share.url} target="_blank" rel="noreferrer" aria-label={`Open ${share.name}`}>
            Open
          </a>
          <Copy text={share.url} label={`Copy link of ${share.name}`}>
            Copy link
          </Copy>
        </>
      )}
      <Allowed scope="codes.write">
        <button type="button" class="button" aria-label={`Change ${share.name}`} onClick={() => onOpen('change')}>
          Change
        </button>
        <button type="button" class="button danger" aria-label={`End ${share.name}`} onClick={() => onOpen('end')}>
          End
        </button>
      </Allowed>
    </span>
  </li>
);

function EndDialog({ share, onDone, onClose }: { share: Share; onDone(): Promise<void>; onClose(): void }) {
  const end = async () => {
    await api.delete(`/shares/${share.id}`);
    await onDone();
    toast(`${share.name} ended.`);
    onClose();
  };
  return (
    <ConfirmDialog title={`End ${share.name}?`} label="End page" isDangerous onConfirm={end} onClose={onClose}>
      <p>Its link stops working immediately and never works again. Codes and their statistics stay.</p>
    </ConfirmDialog>
  );
}
