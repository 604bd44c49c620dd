import { useState } from 'preact/hooks';
import { problemWithName } from '../../../../events/fields.ts';
import { api } from '../api.ts';
import { Field } from '../parts/field.tsx';
import { errorOf } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import type { Me } from '../types.ts';
import { updateUser } from '../welcome.ts';

/** Name and e-mail address of the person. */
export function Profile({ me, onChange }: { me: Me; onChange(): Promise<void> }) {
  const [name, setName] = useState(me.name);
  const [email, setEmail] = useState(me.email);
  const { busy, errors, setErrors, recheck, run } = useAction(['name', 'email']);
  const isChanged = name !== me.name || email.trim() !== me.email;
  const submit = () =>
    run(async () => {
      const problem = problemWithName(name);
      if (problem !== undefined) {
        setErrors({ name: `The name ${problem}.` });
        return;
      }
      const changes = {
        ...(name === me.name ? {} : { name }),
        ...(email.trim() === me.email ? {} : { email: email.trim() }),
      };
      const saved = await api.patch<Me>('/me', changes);
      updateUser(saved);
      setName(saved.name);
      setEmail(saved.email);
      await onChange();
      toast('Profile saved.');
    });
  return (
    <section class="card stack" aria-label="Profile">
      <h2>Profile</h2>
      <Form onSubmit={submit}>
        <Field
          label="Name"
          autocomplete="name"
          value={name}
          onValue={(value) => {
            setName(value);
            if (problemWithName(value) === undefined) recheck('name', undefined);
          }}
          error={errorOf(errors, 'name')}
          hint="Members of your accounts see it at everything you change."
        />
        <Field
          label="E-mail"
          type="email"
          autocomplete="email"
          value={email}
          onValue={(value) => {
            setEmail(value);
            recheck('email', undefined);
          }}
          error={errorOf(errors, 'email')}
          hint="You sign in with it. Only you and the owners of your accounts see it."
          isCode
        />
        <div class="row actions">
          <button type="submit" class="button primary" disabled={busy || !isChanged}>
            Save
          </button>
        </div>
      </Form>
    </section>
  );
}
