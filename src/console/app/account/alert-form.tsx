import { useId, useState } from 'preact/hooks';
import type { AlertKind } from '../../../../events/alert.ts';
import { CodeChoices } from '../analytics/code-picker.tsx';
import { api } from '../api.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import { currentMode } from '../router.ts';
import type { Alert } from '../types.ts';
import { alertKindOptions, alertKindTexts } from './alert-kinds.ts';

type Subject = 'all' | 'codes' | 'tags';

const subjects = [
  ['all', 'All codes'],
  ['codes', 'Some codes'],
  ['tags', 'Tags'],
] as const;

/** What the user has entered. */
interface Fields {
  kind: AlertKind;
  name: string;
  subject: Subject;
  codes: ReadonlySet<string>;
  tags: string[];
  percent: string;
  /** Separated by commas or blanks. */
  to: string;
}

const fieldsOf = (alert: Alert | undefined): Fields => ({
  kind: alert?.kind ?? 'destination_down',
  name: alert?.name ?? '',
  subject: alert?.qr_ids ? 'codes' : alert?.tags ? 'tags' : 'all',
  codes: new Set(alert?.qr_ids ?? []),
  tags: alert?.tags ?? [],
  percent: String(alert?.percent ?? 90),
  to: alert?.to.join(', ') ?? '',
});

const errorsOf = ({ subject, codes, tags, kind, percent }: Fields): FieldErrors => ({
  ...(subject === 'codes' && codes.size === 0 ? { qr_ids: 'Choose at least one code.' } : {}),
  ...(subject === 'tags' && tags.length === 0 ? { tags: 'Add at least one tag.' } : {}),
  ...(kind === 'limit_near' && !/^[5-9]\d$/.test(percent.trim()) ? { percent: 'Enter a number from 50 to 99.' } : {}),
});

interface Props {
  /** Undefined for a new one. */
  alert: Alert | undefined;
  /** Whether this service sends mail. */
  isMailed: boolean;
  onSaved(): Promise<void>;
  onClose(): void;
}

/** The dialog that creates or changes an alert. */
export function AlertDialog({ alert, isMailed, onSaved, onClose }: Props) {
  const [fields, setFields] = useState(() => fieldsOf(alert));
  const { busy, errors, setErrors, recheck, run } = useAction(['name', 'qr_ids', 'tags', 'percent', 'to']);
  const set = (field: string, change: Partial<Fields>) => {
    const next = { ...fields, ...change };
    setFields(next);
    recheck(field, errorsOf(next)[field]);
  };
  const { kind, name, percent, to } = fields;
  const save = () =>
    run(async () => {
      const invalid = errorsOf(fields);
      setErrors(invalid);
      if (Object.keys(invalid).length > 0) return;
      if (alert === undefined) await api.post<Alert>('/alerts', { kind, ...bodyOf(fields) });
      else await api.patch<Alert>(`/alerts/${alert.id}`, bodyOf(fields));
      await onSaved();
      toast(alert === undefined ? 'Alert created.' : 'Alert saved.');
      onClose();
    });
  return (
    <Dialog title={alert === undefined ? 'Create alert' : 'Edit alert'} onClose={onClose}>
      <Form onSubmit={save}>
        {alert === undefined && <KindField kind={kind} onKind={(value) => set('kind', kindChange(value))} />}
        <p class="hint">{alertKindTexts[kind].sentence}</p>
        <Field
          label="Name (optional)"
          value={name}
          onValue={(value) => set('name', { name: value })}
          error={errors['name']}
          placeholder={alertKindTexts[kind].label}
          hint="So that you can tell your alerts apart."
        />
        {kind === 'limit_near' && (
          <Field
            label="Warn at (percent)"
            value={percent}
            onValue={(value) => set('percent', { percent: value })}
            error={errors['percent']}
            inputMode="numeric"
          />
        )}
        {kind !== 'domain_failing' && <SubjectFields fields={fields} errors={errors} set={set} />}
        <Field
          label="E-mail (optional)"
          value={to}
          onValue={(value) => set('to', { to: value })}
          error={errorAt(errors, 'to')}
          placeholder="ada@example.com, grace@example.com"
          hint={
            isMailed ? 'Up to 10 addresses.' : 'Nothing is mailed until the operator of this service sets SMTP_URL.'
          }
          isCode
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            {busy ? 'Saving…' : alert === undefined ? 'Create alert' : 'Save'}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Domains are watched all together. */
const kindChange = (kind: AlertKind): Partial<Fields> =>
  kind === 'domain_failing' ? { kind, subject: 'all' } : { kind };

const bodyOf = ({ kind, name, subject, codes, tags, percent, to }: Fields) => ({
  name: name.trim() === '' ? alertKindTexts[kind].label : name,
  qr_ids: subject === 'codes' ? [...codes] : null,
  tags: subject === 'tags' ? tags : null,
  ...(kind === 'limit_near' ? { percent: Number(percent) } : {}),
  to: to.split(/[\s,;]+/).filter((email) => email !== ''),
});

function KindField({ kind, onKind }: { kind: AlertKind; onKind(kind: AlertKind): void }) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>Tell me when</label>
      <select id={id} value={kind} onChange={(event) => onKind(event.currentTarget.value as AlertKind)}>
        {alertKindOptions
          .filter(([option]) => option !== 'domain_failing' || currentMode() === 'live')
          .map(([option, { label }]) => (
            <option key={option} value={option}>
              {label}
            </option>
          ))}
      </select>
    </div>
  );
}

interface SubjectProps {
  fields: Fields;
  errors: FieldErrors;
  set(field: string, change: Partial<Fields>): void;
}

const SubjectFields = ({ fields: { subject, codes, tags }, errors, set }: SubjectProps) => (
  <>
    <Segments
      label="What the alert watches"
      options={subjects}
      value={subject}
      onValue={(value) => set('qr_ids', { subject: value })}
    />
    {subject === 'codes' && (
      <>
        <CodeChoices chosen={codes} onChosen={(value) => set('qr_ids', { codes: value })} />
        <ErrorText>{errorAt(errors, 'qr_ids')}</ErrorText>
      </>
    )}
    {subject === 'tags' && (
      <TagsField
        label="Tags"
        tags={tags}
        onTags={(value) => set('tags', { tags: value })}
        error={errorAt(errors, 'tags')}
        hint="All codes with one of these tags, also those that get it later."
      />
    )}
  </>
);
