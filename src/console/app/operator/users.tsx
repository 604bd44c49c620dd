import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date } from '../format.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useResource } from '../resource.ts';
import { pageUrl } from '../router.ts';
import type { OperatorUser } from '../types.ts';
import { type Listed, Pages, PastTime, Search, useListQuery } from './parts.tsx';
import { SignUp } from './sign-up.tsx';

type Step = 'disable' | 'enable' | 'operator' | 'reset';

/** People of all accounts. */
export function Users() {
  const { data, error, reload } = useResource<Listed<OperatorUser>>('/operator/users', { query: useListQuery() });
  const [open, setOpen] = useState<{ step: Step; user: OperatorUser }>();
  const close = () => setOpen(undefined);
  return (
    <section aria-label="People">
      <SignUp />
      <div class="row gap-m toolbar">
        <Search label="Search people" placeholder="Name or e-mail" />
      </div>
      {data === undefined ? (
        <Loading error={error} retry={reload} />
      ) : data.data.length === 0 ? (
        <Empty title="No matching people" />
      ) : (
        <ul class="card lines">
          {data.data.map((user) => (
            <UserItem key={user.id} user={user} onOpen={(step) => setOpen({ step, user })} />
          ))}
        </ul>
      )}
      {data !== undefined && <Pages next={data.next} />}
      {open?.step === 'reset' && <ResetDialog user={open.user} onClose={close} />}
      {open !== undefined && open.step !== 'reset' && (
        <ChangeDialog step={open.step} user={open.user} reload={reload} onClose={close} />
      )}
    </section>
  );
}

function UserItem({ user, onOpen }: { user: OperatorUser; onOpen(step: Step): void }) {
  const button = (step: Step, text: string, isDangerous = false) => (
    <button
      type="button"
      class={isDangerous ? 'button danger' : 'button'}
      aria-label={`${text}: ${user.name}`}
      onClick={() => onOpen(step)}
    >
      {text}
    </button>
  );
  return (
    <li class="row between gap-l">
      <div class="wrapped">
        <strong dir="auto">{user.name}</strong> {user.is_you && <span class="badge active">You</span>}{' '}
        {user.is_operator && <span class="badge live">Operator</span>}{' '}
        {user.is_disabled && <span class="badge failed">Disabled</span>}
        <p class="hint">
          {user.email} ·{' '}
          {user.last_signed_in_at === null ? (
            'never signed in'
          ) : (
            <>
              signed in <PastTime at={user.last_signed_in_at} />
            </>
          )}{' '}
          · joined {date(user.created_at)}
        </p>
        {user.accounts.length > 0 && (
          <p class="hint">
            {user.accounts.map(({ id, name, role }, i) => (
              <span key={id}>
                {i > 0 && ', '}
                <a href={pageUrl(`/operator/accounts/${id}`)}>{name}</a> ({role})
              </span>
            ))}
          </p>
        )}
      </div>
      <span class="row actions">
        {!user.is_disabled && button('reset', 'Reset link')}
        {button('operator', user.is_operator ? 'Remove operator' : 'Make operator')}
        {!user.is_you &&
          button(user.is_disabled ? 'enable' : 'disable', user.is_disabled ? 'Enable' : 'Disable', !user.is_disabled)}
      </span>
    </li>
  );
}

const texts = {
  disable: {
    title: 'Disable',
    what: 'The person is signed out everywhere and can no longer sign in. Memberships stay. API keys of the accounts keep working.',
  },
  enable: { title: 'Enable', what: 'The person can sign in again.' },
  operator: { title: 'Make an operator of', what: 'Operators see and change all accounts of this service.' },
  remove: { title: 'Remove as operator:', what: 'The person keeps all accounts, and no longer sees this part.' },
} as const;

interface ChangeProps {
  step: Exclude<Step, 'reset'>;
  user: OperatorUser;
  reload(): Promise<void>;
  onClose(): void;
}

function ChangeDialog({ step, user, reload, onClose }: ChangeProps) {
  const { title, what } = texts[step === 'operator' && user.is_operator ? 'remove' : step];
  const change = step === 'operator' ? { is_operator: !user.is_operator } : { is_disabled: step === 'disable' };
  const label = { disable: 'Disable', enable: 'Enable', operator: user.is_operator ? 'Remove' : 'Make operator' }[step];
  return (
    <ConfirmDialog
      title={`${title} ${user.name}?`}
      label={label}
      isDangerous={step === 'disable'}
      onConfirm={async () => {
        await api.patch(`/operator/users/${user.id}`, change);
        await reload();
        toast('Saved.');
        onClose();
      }}
      onClose={onClose}
    >
      <p>{what}</p>
    </ConfirmDialog>
  );
}

function ResetDialog({ user, onClose }: { user: OperatorUser; onClose(): void }) {
  const [link, setLink] = useState<{ url: string; expires_at: string; is_mailed: boolean }>();
  if (link === undefined)
    return (
      <ConfirmDialog
        title={`New password for ${user.name}?`}
        label="Create link"
        onConfirm={async () => setLink(await api.post(`/operator/users/${user.id}/reset-link`))}
        onClose={onClose}
      >
        <p>You get a link to hand over. It sets a new password of {user.email}, once.</p>
      </ConfirmDialog>
    );
  return (
    <Dialog title={`Link for ${user.name}`} onClose={onClose}>
      <p>
        {link.is_mailed ? `It is mailed to ${user.email}, too.` : `Send it to ${user.email}.`} It works once, until{' '}
        <PastTime at={link.expires_at} />, and is not shown again.
      </p>
      <code class="block">{link.url}</code>
      <div class="row actions">
        <Copy text={link.url} label="Copy link">
          Copy link
        </Copy>
        <button type="button" class="button primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
