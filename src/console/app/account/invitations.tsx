import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date, dueTime, time } from '../format.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useResource } from '../resource.ts';
import { roleTexts } from '../roles.ts';
import type { Invitation } from '../types.ts';

/** Invitations that no one has accepted yet; nothing if there are none. */
export function Invitations({ refreshKey }: { refreshKey: number }) {
  const invitations = useResource<{ data: Invitation[] }>('/account/invitations', { refreshKey });
  const [revoked, setRevoked] = useState<Invitation>();
  if (invitations.data === undefined) return <Loading error={invitations.error} retry={invitations.reload} lines={1} />;
  const { data } = invitations.data;
  if (data.length === 0) return null;
  return (
    <section class="invitations" aria-label="Pending invitations">
      <h2>Pending invitations</h2>
      <ul class="card lines">
        {data.map((invitation) => (
          <li key={invitation.id} class="row between gap-l">
            <div class="wrapped">
              <strong>{invitation.email}</strong> <span class="badge">{roleTexts[invitation.role].name}</span>
              <p class="hint">
                invited {date(invitation.created_at)} ·{' '}
                <time dateTime={invitation.expires_at} title={time(invitation.expires_at)}>
                  link expires {dueTime(invitation.expires_at)}
                </time>
              </p>
            </div>
            <button
              type="button"
              class="button danger"
              aria-label={`Revoke invitation of ${invitation.email}`}
              onClick={() => setRevoked(invitation)}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {revoked !== undefined && (
        <RevokeDialog invitation={revoked} onDone={invitations.reload} onClose={() => setRevoked(undefined)} />
      )}
    </section>
  );
}

interface RevokeProps {
  invitation: Invitation;
  onDone(): Promise<void>;
  onClose(): void;
}

function RevokeDialog({ invitation: { id, email }, onDone, onClose }: RevokeProps) {
  const revoke = async () => {
    await api.delete(`/account/invitations/${id}`);
    await onDone();
    toast(`Invitation of ${email} revoked.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title="Revoke this invitation?"
      label="Revoke invitation"
      isDangerous
      onConfirm={revoke}
      onClose={onClose}
    >
      <p>The link that you sent to {email} stops working immediately. You can invite them again.</p>
    </ConfirmDialog>
  );
}
