import { api } from '../api.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { toast } from '../parts/toast.tsx';
import { type Role, roleTexts } from '../roles.ts';
import type { Member } from '../types.ts';
import { bootstrap } from '../welcome.ts';

interface Props {
  member: Member;
  onClose(): void;
}

export function RemoveDialog({ member: { id, name }, onDone, onClose }: Props & { onDone(): Promise<void> }) {
  const remove = async () => {
    await api.delete(`/account/members/${id}`);
    await onDone();
    toast(`${name} removed.`);
    onClose();
  };
  return (
    <ConfirmDialog title={`Remove ${name}?`} label="Remove member" isDangerous onConfirm={remove} onClose={onClose}>
      <p>
        {name} loses access to “{bootstrap.account.name}” immediately. Codes stay as they are, and so does the history.
      </p>
      <p>API keys keep working. Revoke those that {name} has a copy of.</p>
    </ConfirmDialog>
  );
}

export function LeaveDialog({ member: { id }, onClose }: Props) {
  const { name } = bootstrap.account;
  const leave = async () => {
    await api.delete(`/account/members/${id}`);
    // Of another account of this person, or a page that says that there is none.
    location.assign('/console');
  };
  return (
    <ConfirmDialog title={`Leave ${name}?`} label="Leave account" isDangerous onConfirm={leave} onClose={onClose}>
      <p>You lose access immediately. Only an owner can invite you again. Your codes stay in the account.</p>
    </ConfirmDialog>
  );
}

/** Asks before an owner gives up the role of an owner. */
export function OwnRoleDialog({ member: { id }, role, onClose }: Props & { role: Role }) {
  const change = async () => {
    await api.patch(`/account/members/${id}`, { role });
    // Every part of the console depends on the role.
    location.reload();
  };
  const { name, article, can } = roleTexts[role];
  return (
    <ConfirmDialog title={`Become ${article}?`} label={`Become ${article}`} onConfirm={change} onClose={onClose}>
      <p>
        {name}: {can} Only another owner can make you an owner again.
      </p>
    </ConfirmDialog>
  );
}
