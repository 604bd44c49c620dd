import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { Field } from '../parts/field.tsx';
import { errorOf } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import type { Me } from '../types.ts';
import { updateUser } from '../welcome.ts';

/** Changes the password, or sets the first one of a person who signs in with something else. */
export function PasswordForm({ me, onChange }: { me: Me; onChange(): Promise<void> }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [isShown, setIsShown] = useState(false);
  const { busy, errors, recheck, run } = useAction(['password']);
  const type = isShown ? 'text' : 'password';
  const submit = () =>
    run(async () => {
      const saved = await api.patch<Me>('/me', {
        password: me.has_password ? { current, new: next } : { new: next },
      });
      updateUser(saved);
      setCurrent('');
      setNext('');
      await onChange();
      toast(me.has_password ? 'Password changed.' : 'Password set.');
    });
  return (
    <section class="card stack" aria-label="Password">
      <h2>Password</h2>
      <Form onSubmit={submit}>
        {/* Tells password managers whose password it is. */}
        <input type="text" autocomplete="username" value={me.email} readOnly hidden />
        {me.has_password && (
          <Field
            label="Current password"
            type={type}
            autocomplete="current-password"
            value={current}
            onValue={(value) => {
              setCurrent(value);
              recheck('password.current', undefined);
            }}
            error={errorOf(errors, 'password.current')}
            isCode
          />
        )}
        <Field
          label="New password"
          type={type}
          autocomplete="new-password"
          value={next}
          onValue={(value) => {
            setNext(value);
            recheck('password.new', undefined);
          }}
          error={errorOf(errors, 'password.new') ?? errors['password']}
          hint="A long one is best, such as four words that do not belong together. Your other sessions end."
          isCode
        />
        <label class="row nowrap check">
          <input type="checkbox" checked={isShown} onChange={() => setIsShown(!isShown)} />
          <span>Show what I type</span>
        </label>
        <div class="row actions">
          <button
            type="submit"
            class="button primary"
            disabled={busy || next === '' || (me.has_password && current === '')}
          >
            {me.has_password ? 'Change password' : 'Set password'}
          </button>
        </div>
      </Form>
    </section>
  );
}
