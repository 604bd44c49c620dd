import { useId, useState } from 'preact/hooks';
import { type Role, roles } from '../../../../events/roles.ts';
import { ApiError, api } from '../api.ts';
import { time } from '../format.ts';
import { Copy } from '../parts/copy.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { errorOf } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { useAction } from '../parts/use-action.ts';
import { roleTexts } from '../roles.ts';
import type { CreatedInvitation } from '../types.ts';
import { bootstrap } from '../welcome.ts';

/** Invites a person: an address and a role give a link, which is shown once. */
export function InviteDialog({ onInvited, onClose }: { onInvited(): void; onClose(): void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const [created, setCreated] = useState<CreatedInvitation>();
  const { busy, errors, setErrors, recheck, run } = useAction(['email', 'role']);
  const invite = () =>
    run(async () => {
      const address = email.trim();
      if (!isAddress(address)) {
        setErrors({ email: 'Enter an e-mail address, such as ann@example.com.' });
        return;
      }
      try {
        setCreated(await api.post<CreatedInvitation>('/account/invitations', { email: address, role }));
        onInvited();
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'already_member')) throw error;
        setErrors({ email: error.message });
      }
    });
  if (created !== undefined) return <InvitationLink invitation={created} onClose={onClose} />;
  return (
    <Dialog title={`Invite to ${bootstrap.account.name}`} onClose={onClose}>
      <Form onSubmit={invite}>
        <Field
          label="E-mail"
          type="email"
          value={email}
          onValue={(value) => {
            setEmail(value);
            if (isAddress(value.trim())) recheck('email', undefined);
          }}
          error={errorOf(errors, 'email')}
          placeholder="ann@example.com"
          isCode
        />
        <RoleChoice role={role} onRole={setRole} />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            Create invitation
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

const isAddress = (text: string) => /^[^\s@]+@[^\s@]+$/.test(text);

function RoleChoice({ role, onRole }: { role: Role; onRole(role: Role): void }) {
  const name = useId();
  return (
    <fieldset class="stack gap-s">
      <legend>Role</legend>
      {roles.map((option) => (
        <label key={option} class="row nowrap check start">
          <input type="radio" name={name} checked={option === role} onChange={() => onRole(option)} />
          <span>
            {roleTexts[option].name}
            <span class="hint">{roleTexts[option].can}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The link of an invitation, which no one can read again. */
const InvitationLink = ({
  invitation: { url, email, role, expires_at, is_mailed },
  onClose,
}: {
  invitation: CreatedInvitation;
  onClose(): void;
}) => (
  <Dialog title="Invitation created" staysOpen>
    <p>
      {is_mailed
        ? `This link is mailed to ${email}, who becomes ${roleTexts[role].article} by opening it. To send it yourself as well, copy it now:`
        : `This service did not mail it: send this link to ${email}, who becomes ${roleTexts[role].article} by opening it. Copy it now:`}{' '}
      you cannot see it again after you close this dialog.
    </p>
    <code class="block">{url}</code>
    <p class="hint">Valid once, for 7 days, until {time(expires_at)}.</p>
    <div class="row actions">
      <Copy text={url} label="Copy invitation link">
        Copy
      </Copy>
      <button type="button" class="button primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
);
