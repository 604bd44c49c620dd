import { useState } from 'preact/hooks';
import { plans } from '../../../../events/plans.ts';
import { api } from '../api.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { goTo, pageUrl } from '../router.ts';
import type { OperatorAccount } from '../types.ts';
import { ReasonDialog } from './parts.tsx';

interface Props {
  account: OperatorAccount;
  reload(): Promise<void>;
}

/** Plan, suspension and deletion of an account. */
export function AccountActions({ account, reload }: Props) {
  const [open, setOpen] = useState<'plan' | 'suspend' | 'resume' | 'delete'>();
  const close = () => setOpen(undefined);
  const path = `/operator/accounts/${account.id}`;
  const done = async (text: string) => {
    await reload();
    toast(text);
    close();
  };
  return (
    <div class="row actions">
      <button type="button" class="button" onClick={() => setOpen('plan')}>
        Change plan
      </button>
      <button
        type="button"
        class={account.suspended === null ? 'button danger' : 'button'}
        onClick={() => setOpen(account.suspended === null ? 'suspend' : 'resume')}
      >
        {account.suspended === null ? 'Suspend' : 'Resume'}
      </button>
      <button type="button" class="button danger" onClick={() => setOpen('delete')}>
        Delete
      </button>
      {open === 'plan' && <PlanDialog account={account} reload={reload} onClose={close} />}
      {open === 'suspend' && (
        <ReasonDialog
          title={`Suspend ${account.name}?`}
          label="Suspend account"
          onConfirm={async (reason) => {
            await api.post(`${path}/suspension`, { reason });
            await done('Account suspended.');
          }}
          onClose={close}
        >
          <p>
            Its API and console answer with the reason, and its short links no longer lead anywhere. Nothing is deleted.
          </p>
        </ReasonDialog>
      )}
      {open === 'resume' && (
        <ConfirmDialog
          title={`Resume ${account.name}?`}
          label="Resume account"
          onConfirm={async () => {
            await api.delete(`${path}/suspension`);
            await done('Suspension ended.');
          }}
          onClose={close}
        >
          <p>Its API, console and short links work again at once.</p>
        </ConfirmDialog>
      )}
      {open === 'delete' && <DeleteDialog account={account} onClose={close} />}
    </div>
  );
}

function PlanDialog({ account, reload, onClose }: Props & { onClose(): void }) {
  const [plan, setPlan] = useState(account.plan);
  const { busy, run } = useAction();
  const save = () =>
    run(async () => {
      await api.patch(`/operator/accounts/${account.id}`, { plan });
      await reload();
      toast(`${account.name} is on the ${plan} plan.`);
      onClose();
    });
  return (
    <Dialog title={`Plan of ${account.name}`} onClose={onClose}>
      <Form onSubmit={save}>
        <label class="stack gap-xs field">
          Plan
          <select value={plan} onChange={(e) => setPlan(plans.find((one) => one === e.currentTarget.value) ?? plan)}>
            {plans.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || plan === account.plan}>
            Change plan
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function DeleteDialog({ account: { id, name }, onClose }: { account: OperatorAccount; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const { busy, run } = useAction();
  const remove = () =>
    run(async () => {
      await api.post(`/operator/accounts/${id}/deletion`, { confirm: typed.trim() });
      toast(`${name} is deleted. The service erases its data.`);
      goTo(pageUrl('/operator'));
    });
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <Form onSubmit={remove}>
        <p>
          Its keys stop working and its short links end at once. Its codes, scans and the data of its events are erased,
          and cannot be brought back.
        </p>
        <Field
          label="Type the account ID to delete it"
          value={typed}
          onValue={setTyped}
          isCode
          hint={<code>{id}</code>}
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button danger solid" disabled={busy || typed.trim() !== id}>
            Delete account
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
