import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { Allowed, may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { type Role, roles, roleTexts } from '../roles.ts';
import type { Member } from '../types.ts';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LeaveDialog, OwnRoleDialog, RemoveDialog } from './member-dialogs.tsx';
import { UndoDialog } from './undo-changes.tsx';

type Open = 'invite' | { do: 'remove' | 'leave' | 'undo'; member: Member } | { do: 'role'; member: Member; role: Role };

/** The people who can sign in to the account, and those who are invited. */
export function Members() {
  const members = useResource<{ data: Member[] }>('/account/members');
  const [open, setOpen] = useState<Open>();
  const [invited, setInvited] = useState(0);
  if (members.data === undefined) return <Loading error={members.error} retry={members.reload} />;
  const { data } = members.data;
  const owners = data.filter(({ role }) => role === 'owner').length;
  const close = () => setOpen(undefined);
  return (
    <section aria-label="Members">
      <div class="row gap-m toolbar">
        <p class="hint">
          Each person signs in with their own name, which the history and the audit log show. API keys are for
          applications.
        </p>
        <span class="spacer" />
        <Allowed scope="account.write">
          <button type="button" class="button primary" onClick={() => setOpen('invite')}>
            <Icon name="plus" />
            Invite
          </button>
        </Allowed>
      </div>
      {data.length === 0 ? (
        <Empty title="No members yet">
          <p>This account is used with API keys only. Invite the first person as an owner.</p>
        </Empty>
      ) : (
        <ul class="card lines">
          {data.map((member) => (
            <MemberItem
              key={member.id}
              member={member}
              isLastOwner={owners === 1 && member.role === 'owner'}
              onOpen={setOpen}
              onChange={members.reload}
            />
          ))}
        </ul>
      )}
      <Allowed scope="account.write">
        <Invitations refreshKey={invited} />
      </Allowed>
      {open === 'invite' && <InviteDialog onInvited={() => setInvited((count) => count + 1)} onClose={close} />}
      {typeof open === 'object' && open.do === 'remove' && (
        <RemoveDialog member={open.member} onDone={members.reload} onClose={close} />
      )}
      {typeof open === 'object' && open.do === 'leave' && <LeaveDialog member={open.member} onClose={close} />}
      {typeof open === 'object' && open.do === 'role' && (
        <OwnRoleDialog member={open.member} role={open.role} onClose={close} />
      )}
      {typeof open === 'object' && open.do === 'undo' && (
        <UndoDialog
          actor={open.member}
          isPerson
          advice={open.member.is_you ? undefined : 'If they should change nothing more, remove them first.'}
          onClose={close}
        />
      )}
    </section>
  );
}

interface ItemProps {
  member: Member;
  isLastOwner: boolean;
  onOpen(open: Open): void;
  onChange(): Promise<void>;
}

function MemberItem({ member, isLastOwner, onOpen, onChange }: ItemProps) {
  const { id, name, email, role, joined_at, last_signed_in_at, is_you } = member;
  const reasonId = `${id}-last-owner`;
  return (
    <li class="row between gap-l">
      <div class="wrapped">
        <strong dir="auto">{name}</strong> {is_you && <span class="badge active">You</span>}
        {email !== null && <p class="hint">{email}</p>}
        <p class="hint">
          joined {date(joined_at)} ·{' '}
          {last_signed_in_at === null ? (
            'never signed in'
          ) : (
            <time dateTime={last_signed_in_at} title={time(last_signed_in_at)}>
              last signed in {relativeTime(last_signed_in_at)}
            </time>
          )}
        </p>
        {isLastOwner && (may('account.write') || is_you) && (
          <p class="hint" id={reasonId}>
            The only owner can neither leave nor get another role. Make someone else an owner first.
          </p>
        )}
      </div>
      <span class="row actions">
        {may('account.write') ? (
          <RoleSelect
            member={member}
            reasonId={isLastOwner ? reasonId : undefined}
            onOpen={onOpen}
            onChange={onChange}
          />
        ) : (
          <span class="badge">{roleTexts[role].name}</span>
        )}
        {(is_you || may('account.write')) && (
          <Menu label={`Actions for ${name}`} buttonClass="button square" button={<Icon name="more" />}>
            <Allowed scope="account.write">
              <button type="button" class="button" onClick={() => onOpen({ do: 'undo', member })}>
                <Icon name="history" />
                Undo changes
              </button>
            </Allowed>
            <button
              type="button"
              class="button danger"
              disabled={isLastOwner}
              aria-describedby={isLastOwner ? reasonId : undefined}
              onClick={() => onOpen({ do: is_you ? 'leave' : 'remove', member })}
            >
              <Icon name={is_you ? 'exit' : 'trash'} />
              {is_you ? 'Leave account' : 'Remove'}
            </button>
          </Menu>
        )}
      </span>
    </li>
  );
}

interface RoleProps {
  member: Member;
  /** The element that says why the role cannot be changed. */
  reasonId: string | undefined;
  onOpen(open: Open): void;
  onChange(): Promise<void>;
}

/** Changes the role of a member at once; only a change of one's own, which cannot be taken back, asks before. */
function RoleSelect({ member, reasonId, onOpen, onChange }: RoleProps) {
  const { busy, run } = useAction();
  const set = (role: Role, before?: Role) =>
    run(async () => {
      await api.patch(`/account/members/${member.id}`, { role });
      await onChange();
      const undo = before === undefined ? undefined : () => set(before);
      toast(`${member.name} is now ${roleTexts[role].article}.`, 'done', undo);
    });
  const choose = (role: Role) => {
    if (member.is_you) onOpen({ do: 'role', member, role });
    else set(role, member.role);
  };
  return (
    <select
      aria-label={`Role of ${member.name}`}
      value={member.role}
      disabled={busy || reasonId !== undefined}
      aria-describedby={reasonId}
      onChange={({ currentTarget }) => {
        const role = currentTarget.value as Role;
        // Until the change is made, it shows the role that the member has.
        currentTarget.value = member.role;
        choose(role);
      }}
    >
      {roles.map((role) => (
        <option key={role} value={role}>
          {roleTexts[role].name}
        </option>
      ))}
    </select>
  );
}
