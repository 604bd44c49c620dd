import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Copy } from '../parts/copy.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { Allowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { Share } from '../types.ts';
import { CreateShareDialog } from './share-form.tsx';

/** The public pages of statistics: create one, copy its link, end it. */
export function Shares() {
  const shares = useResource<{ data: Share[] }>('/shares');
  const [open, setOpen] = useState<'create' | Share>();
  if (shares.data === undefined) return <Loading error={shares.error} retry={shares.reload} />;
  const { data } = shares.data;
  return (
    <section aria-label="Shared pages">
      <div class="row gap-m toolbar">
        <p class="hint">
          Statistics for people without an account. Everyone who has the link can read the page. Figures of fewer than 5
          visitors are hidden.
        </p>
        <span class="spacer" />
        <Allowed scope="codes.write">
          <button type="button" class="button primary" onClick={() => setOpen('create')}>
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
            <ShareItem key={share.id} share={share} onEnd={() => setOpen(share)} />
          ))}
        </ul>
      )}
      {open === 'create' && <CreateShareDialog onCreated={shares.reload} onClose={() => setOpen(undefined)} />}
      {typeof open === 'object' && <EndDialog share={open} onDone={shares.reload} onClose={() => setOpen(undefined)} />}
    </section>
  );
}

const subjectOf = ({ qr_ids, tags }: Share) =>
  qr_ids === null ? `codes with ${(tags ?? []).join(', ')}` : plural(qr_ids.length, 'code');

const ShareItem = ({ share, onEnd }: { share: Share; onEnd(): void }) => (
  <li class="row between gap-l">
    <div class="wrapped">
      <strong>{share.name}</strong> {share.has_password && <span class="badge">Password</span>}
      <p class="hint">
        {subjectOf(share)} · created {date(share.created_at)}
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
        <button type="button" class="button danger" aria-label={`End ${share.name}`} onClick={onEnd}>
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
