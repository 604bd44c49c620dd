import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { save } from '../parts/save.ts';
import { useAction } from '../parts/use-action.ts';
import type { Me } from '../types.ts';

/** What the service knows about the person: to download, or to delete. */
export function OwnData({ me }: { me: Me }) {
  const [isDeleting, setIsDeleting] = useState(false);
  const { busy, run } = useAction();
  const download = () => run(async () => save(await api.file('/me/export'), 'scanlog-my-data.json'));
  return (
    <section class="card stack you-part" aria-label="Your data">
      <h2>Your data</h2>
      <p>
        Download what the service stores about you: your profile, accounts and sessions, and what you did. Or delete
        your user, for good.
      </p>
      <div class="row">
        <button type="button" class="button" disabled={busy} onClick={download}>
          <Icon name="download" />
          Download my data
        </button>
        <button type="button" class="button danger" onClick={() => setIsDeleting(true)}>
          <Icon name="trash" />
          Delete my user
        </button>
      </div>
      {isDeleting && <DeleteDialog me={me} onClose={() => setIsDeleting(false)} />}
    </section>
  );
}

function DeleteDialog({ me, onClose }: { me: Me; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const { busy, run } = useAction();
  const isConfirmed = typed.trim().toLowerCase() === me.email.toLowerCase();
  const remove = () =>
    run(async () => {
      await api.delete('/me');
      location.assign('/console');
    });
  return (
    <Dialog title="Delete your user?" onClose={onClose}>
      <Form onSubmit={() => isConfirmed && remove()}>
        <p>
          You are signed out everywhere and leave all your accounts. Your name, e-mail address and ways to sign in are
          deleted; histories then name “a former member”. The accounts and their codes stay with the other members.
        </p>
        <p>An account that you alone own needs another owner first. This cannot be undone.</p>
        <Field label="Your e-mail address, to confirm" value={typed} onValue={setTyped} placeholder={me.email} isCode />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button danger solid" disabled={busy || !isConfirmed}>
            Delete my user
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
