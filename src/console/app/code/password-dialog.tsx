import { useState } from 'preact/hooks';
import { problemWithPassword } from '../../../../events/password.ts';
import { api } from '../api.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import type { QrCode } from '../types.ts';

interface Props {
  code: QrCode;
  onChange(): Promise<void>;
  onClose(): void;
}

/** Sets, changes or removes the password that the short link asks for. */
export function PasswordDialog({ code, onChange, onClose }: Props) {
  const [password, setPassword] = useState('');
  const { busy, errors, setErrors, run } = useAction(['password']);
  const store = (next: string | null, done: string) =>
    run(async () => {
      const problem = next === null ? undefined : problemWithPassword(next);
      if (problem !== undefined) {
        setErrors({ password: `The password ${problem.replace(', or null', '')}.` });
        return;
      }
      await api.patch(`/qrcodes/${code.id}`, { password: next });
      await onChange();
      toast(done);
      onClose();
    });
  return (
    <Dialog title={code.has_password ? 'Change the password' : 'Ask for a password'} onClose={onClose}>
      <Form onSubmit={() => store(password, 'Password saved. The short link asks for it now.')}>
        <Field
          label="Password"
          value={password}
          onValue={setPassword}
          error={errors['password']}
          isCode
          maxLength={128}
          hint="People enter it after they scan the code. It is not shown here again."
        />
        <DialogActions onCancel={onClose}>
          {code.has_password && (
            <button
              type="button"
              class="button danger"
              disabled={busy}
              onClick={() => store(null, 'Password removed. The short link is open.')}
            >
              Remove password
            </button>
          )}
          <button type="submit" class="button primary" disabled={busy}>
            Save
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
