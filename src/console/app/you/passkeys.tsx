import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date, relativeTime } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { createPasskey, hasPasskeys, passkeyProblem } from '../webauthn.ts';
import type { OwnCredentials, OwnPasskey, PasskeyOptions } from './types.ts';

interface Props {
  me: OwnCredentials;
  onChange(): Promise<void>;
}

/** The passkeys of the person: to add, rename and remove. */
export function Passkeys({ me, onChange }: Props) {
  const [open, setOpen] = useState<{ passkey: OwnPasskey; as: 'rename' | 'remove' }>();
  const { busy, run } = useAction();
  const problem = me.passkey_problem ?? (hasPasskeys() ? undefined : 'This browser has no passkeys.');
  const add = () =>
    run(async () => {
      const { step, options } = await api.post<PasskeyOptions>('/me/passkeys/options');
      const response = await createPasskey(options).catch((error) => {
        throw new Error(passkeyProblem(error));
      });
      await api.post('/me/passkeys', { step, response });
      await onChange();
      toast('Passkey added.');
    });
  const close = () => setOpen(undefined);
  return (
    <section class="card stack" aria-label="Passkeys">
      <h2>Passkeys</h2>
      <p>Sign in with your finger, face or PIN, without a password. Add one on each device that does not share them.</p>
      {me.passkeys.length > 0 && (
        <ul class="stack gap-s">
          {me.passkeys.map((passkey) => (
            <li key={passkey.id} class="row between">
              <div class="wrapped">
                <strong>{passkey.name}</strong>
                <p class="hint">
                  Added {date(passkey.created_at)} ·{' '}
                  {passkey.last_used_at === null ? 'never used' : `last used ${relativeTime(passkey.last_used_at)}`}
                </p>
              </div>
              <div class="row">
                <button
                  type="button"
                  class="button"
                  aria-label={`Rename ${passkey.name}`}
                  onClick={() => setOpen({ passkey, as: 'rename' })}
                >
                  Rename
                </button>
                <button
                  type="button"
                  class="button danger"
                  aria-label={`Remove ${passkey.name}`}
                  onClick={() => setOpen({ passkey, as: 'remove' })}
                >
                  Remove
                </button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {problem === undefined ? (
        <div class="row">
          <button type="button" class="button" disabled={busy} onClick={add}>
            <Icon name="plus" />
            Add a passkey
          </button>
        </div>
      ) : (
        <p class="hint">{problem}</p>
      )}
      {open?.as === 'rename' && <RenameDialog passkey={open.passkey} onChange={onChange} onClose={close} />}
      {open?.as === 'remove' && (
        <ConfirmDialog
          title={`Remove “${open.passkey.name}”?`}
          label="Remove"
          isDangerous
          onConfirm={async () => {
            await api.delete(`/me/passkeys/${open.passkey.id}`);
            await onChange();
            close();
          }}
          onClose={close}
        >
          <p>It no longer signs you in. Delete it on your device, too.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

interface RenameProps {
  passkey: OwnPasskey;
  onChange(): Promise<void>;
  onClose(): void;
}

function RenameDialog({ passkey, onChange, onClose }: RenameProps) {
  const [name, setName] = useState(passkey.name);
  const { busy, errors, run } = useAction(['name']);
  const rename = () =>
    run(async () => {
      await api.patch(`/me/passkeys/${passkey.id}`, { name: name.trim() });
      await onChange();
      onClose();
    });
  return (
    <Dialog title="Rename the passkey" onClose={onClose}>
      <Form onSubmit={rename}>
        <Field label="Name" value={name} onValue={setName} error={errors['name']} maxLength={100} />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || name.trim() === ''}>
            Rename
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
