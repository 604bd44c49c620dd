import { useState } from 'preact/hooks';
import { problemWithName } from '../../../../events/fields.ts';
import { api } from '../api.ts';
import { AreaField } from '../parts/area-field.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { TimeField } from '../parts/time-field.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import type { Share } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';
import { type ChosenCodes, ChosenCodesFields, chosenBody, chosenErrors, chosenOf } from './chosen-codes.tsx';

/** What the user has entered. */
interface Fields {
  name: string;
  chosen: ChosenCodes;
  /** Empty to keep what there is. */
  password: string;
  isPasswordRemoved: boolean;
  expiresAt: string;
  /** One a line. */
  frameOrigins: string;
}

const fieldsOf = (share: Share | undefined): Fields => ({
  name: share?.name ?? '',
  chosen: chosenOf(share, 'codes'),
  password: '',
  isPasswordRemoved: false,
  expiresAt: share?.expires_at ?? '',
  frameOrigins: (share?.frame_origins ?? []).join('\n'),
});

function errorsOf({ name, chosen }: Fields): FieldErrors {
  const nameProblem = problemWithName(name);
  return {
    ...(nameProblem === undefined ? {} : { name: name.trim() === '' ? 'Enter a name.' : `The name ${nameProblem}.` }),
    ...chosenErrors(chosen),
  };
}

/** The whole request, of which a change sends what differs from before. */
const bodyOf = ({ name, chosen, expiresAt, frameOrigins }: Fields): Record<string, unknown> => ({
  name,
  ...chosenBody(chosen),
  expires_at: expiresAt === '' ? null : expiresAt,
  frame_origins: frameOrigins.split(/\s+/).filter((origin) => origin !== ''),
});

function changesOf(fields: Fields, share: Share): Record<string, unknown> {
  const before = bodyOf(fieldsOf(share));
  const differs = ([field, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before[field]);
  return Object.fromEntries(Object.entries(bodyOf(fields)).filter(differs));
}

const passwordOf = ({ password, isPasswordRemoved }: Fields) =>
  isPasswordRemoved ? { password: null } : password === '' ? {} : { password };

interface Props {
  /** Undefined for a new one. */
  share?: Share;
  onSaved(): Promise<void>;
  onClose(): void;
}

/** The dialog that creates a public page of statistics, or changes one. */
export function ShareDialog({ share, onSaved, onClose }: Props) {
  const [fields, setFields] = useState(() => fieldsOf(share));
  const { busy, errors, setErrors, recheck, run } = useAction([
    'name',
    'qr_ids',
    'tags',
    'password',
    'expires_at',
    'frame_origins',
  ]);
  const set = (field: string, change: Partial<Fields>) => {
    const next = { ...fields, ...change };
    setFields(next);
    recheck(field, errorsOf(next)[field]);
  };
  const { name, chosen, password, isPasswordRemoved, expiresAt, frameOrigins } = fields;
  const save = () =>
    run(async () => {
      const invalid = errorsOf(fields);
      if (Object.keys(invalid).length > 0) {
        setErrors(invalid);
        return;
      }
      if (share === undefined) {
        await api.post<Share>('/shares', Object.assign(bodyOf(fields), passwordOf(fields)));
      } else {
        const body = Object.assign(changesOf(fields, share), passwordOf(fields));
        if (Object.keys(body).length > 0) await api.patch<Share>(`/shares/${share.id}`, body);
      }
      await onSaved();
      toast(share === undefined ? 'Page created. Copy its link and send it to anyone.' : 'Page changed.');
      onClose();
    });
  return (
    <Dialog title={share === undefined ? 'Create shared page' : `Change ${share.name}`} onClose={onClose}>
      <Form onSubmit={save}>
        <Field
          label="Name"
          value={name}
          onValue={(value) => set('name', { name: value })}
          error={errors['name']}
          placeholder="Summer campaign"
          hint="The title of the page, which visitors see."
        />
        <ChosenCodesFields
          label="What the page is about"
          chosen={chosen}
          errors={errors}
          onChosen={(value, field) => set(field, { chosen: value })}
        />
        {!isPasswordRemoved && (
          <Field
            label={share?.has_password ? 'New password' : 'Password'}
            value={password}
            onValue={(value) => set('password', { password: value })}
            error={errors['password']}
            hint={
              share?.has_password
                ? 'Empty keeps the present one. Another one closes the page for those who had opened it.'
                : 'Optional. At least 6 characters; you cannot see it again.'
            }
            isCode
          />
        )}
        {share?.has_password && (
          <label class="row nowrap check">
            <input
              type="checkbox"
              checked={isPasswordRemoved}
              onChange={(event) => set('password', { isPasswordRemoved: event.currentTarget.checked })}
            />
            Remove the password
          </label>
        )}
        <TimeField
          label="Ends (optional)"
          value={expiresAt}
          onValue={(value) => set('expires_at', { expiresAt: value })}
          timeZone={accountTimeZone()}
          error={errors['expires_at']}
        />
        <AreaField
          label="Websites that may embed it (optional)"
          value={frameOrigins}
          onValue={(value) => set('frame_origins', { frameOrigins: value })}
          error={errorAt(errors, 'frame_origins')}
          hint="One a line, such as https://example.com. Without any, no website can show it in a frame."
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            {share === undefined ? (busy ? 'Creating…' : 'Create page') : busy ? 'Saving…' : 'Save'}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
