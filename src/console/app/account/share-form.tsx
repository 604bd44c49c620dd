import { useState } from 'preact/hooks';
import { problemWithName } from '../../../../events/fields.ts';
import { CodeChoices } from '../analytics/code-picker.tsx';
import { api } from '../api.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import { TimeField } from '../parts/time-field.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import type { Share } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';

type Subject = 'codes' | 'tags';

const subjects = [
  ['codes', 'Codes'],
  ['tags', 'Tags'],
] as const;

/** What the user has entered. */
interface Fields {
  name: string;
  subject: Subject;
  codes: ReadonlySet<string>;
  tags: string[];
  password: string;
  expiresAt: string;
}

const empty: Fields = { name: '', subject: 'codes', codes: new Set(), tags: [], password: '', expiresAt: '' };

function errorsOf({ name, subject, codes, tags }: Fields): FieldErrors {
  const nameProblem = problemWithName(name);
  return {
    ...(nameProblem === undefined ? {} : { name: name.trim() === '' ? 'Enter a name.' : `The name ${nameProblem}.` }),
    ...(subject === 'codes' && codes.size === 0 ? { qr_ids: 'Choose at least one code.' } : {}),
    ...(subject === 'tags' && tags.length === 0 ? { tags: 'Add at least one tag.' } : {}),
  };
}

/** The dialog that creates a public page of statistics. */
export function CreateShareDialog({ onCreated, onClose }: { onCreated(): Promise<void>; onClose(): void }) {
  const [fields, setFields] = useState(empty);
  const { busy, errors, setErrors, recheck, run } = useAction(['name', 'qr_ids', 'tags', 'password', 'expires_at']);
  const set = (field: string, change: Partial<Fields>) => {
    const next = { ...fields, ...change };
    setFields(next);
    recheck(field, errorsOf(next)[field]);
  };
  const { name, subject, codes, tags, password, expiresAt } = fields;
  const create = () =>
    run(async () => {
      const invalid = errorsOf(fields);
      if (Object.keys(invalid).length > 0) {
        setErrors(invalid);
        return;
      }
      await api.post<Share>('/shares', {
        name,
        ...(subject === 'codes' ? { qr_ids: [...codes] } : { tags }),
        ...(password === '' ? {} : { password }),
        ...(expiresAt === '' ? {} : { expires_at: expiresAt }),
      });
      await onCreated();
      toast('Page created. Copy its link and send it to anyone.');
      onClose();
    });
  return (
    <Dialog title="Create shared page" onClose={onClose}>
      <Form onSubmit={create}>
        <Field
          label="Name"
          value={name}
          onValue={(value) => set('name', { name: value })}
          error={errors['name']}
          placeholder="Summer campaign"
          hint="The title of the page, which visitors see."
        />
        <Segments
          label="What the page is about"
          options={subjects}
          value={subject}
          onValue={(value) => set('qr_ids', { subject: value })}
        />
        {subject === 'codes' ? (
          <>
            <CodeChoices chosen={codes} onChosen={(value) => set('qr_ids', { codes: value })} />
            <ErrorText>{errorAt(errors, 'qr_ids')}</ErrorText>
          </>
        ) : (
          <TagsField
            label="Tags"
            tags={tags}
            onTags={(value) => set('tags', { tags: value })}
            error={errorAt(errors, 'tags')}
            hint="All codes with one of these tags, also those that get it later."
          />
        )}
        <Field
          label="Password"
          value={password}
          onValue={(value) => set('password', { password: value })}
          error={errors['password']}
          hint="Optional. At least 6 characters; you cannot see it again."
          isCode
        />
        <TimeField
          label="Ends (optional)"
          value={expiresAt}
          onValue={(value) => set('expires_at', { expiresAt: value })}
          timeZone={accountTimeZone()}
          error={errors['expires_at']}
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            {busy ? 'Creating…' : 'Create page'}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
