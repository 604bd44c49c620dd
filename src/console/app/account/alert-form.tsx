import { useId, useState } from 'preact/hooks';
import type { AlertKind } from '../../../../events/alert.ts';
import { api } from '../api.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { browserLanguage, LanguageField } from '../parts/language-field.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import { currentMode } from '../router.ts';
import type { Alert } from '../types.ts';
import { alertKindOptions, alertKindTexts } from './alert-kinds.ts';
import { type ChosenCodes, ChosenCodesFields, chosenErrors, chosenOf } from './chosen-codes.tsx';

/** What the user has entered. */
interface Fields {
  kind: AlertKind;
  name: string;
  chosen: ChosenCodes;
  percent: string;
  language: Alert['language'];
  /** Separated by commas or blanks. */
  to: string;
}

const fieldsOf = (alert: Alert | undefined): Fields => ({
  kind: alert?.kind ?? 'destination_down',
  name: alert?.name ?? '',
  chosen: chosenOf(alert, 'all'),
  percent: String(alert?.percent ?? 90),
  language: alert?.language ?? browserLanguage(),
  to: alert?.to.join(', ') ?? '',
});

const errorsOf = ({ chosen, kind, percent }: Fields): FieldErrors => ({
  ...chosenErrors(chosen),
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
  const { kind, name, chosen, percent, language, to } = fields;
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
        {kind !== 'domain_failing' && (
          <ChosenCodesFields
            label="What the alert watches"
            hasAll
            chosen={chosen}
            errors={errors}
            onChosen={(value, field) => set(field, { chosen: value })}
          />
        )}
        <Field
          label="E-mail (optional)"
          value={to}
          onValue={(value) => set('to', { to: value })}
          error={errorAt(errors, 'to')}
          placeholder="ada@example.com, grace@example.com"
          hint={
            isMailed
              ? 'Up to 10 addresses. Each can unsubscribe by a link.'
              : 'Nothing is mailed until the operator of this service sets SMTP_URL.'
          }
          isCode
        />
        <LanguageField
          value={language}
          onValue={(value) => set('language', { language: value })}
          hint="Of what it says, here and by mail."
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
  kind === 'domain_failing' ? { kind, chosen: chosenOf(undefined, 'all') } : { kind };

const bodyOf = ({ kind, name, chosen, percent, language, to }: Fields) => ({
  name: name.trim() === '' ? alertKindTexts[kind].label : name,
  qr_ids: chosen.by === 'codes' ? [...chosen.codes] : null,
  tags: chosen.by === 'tags' ? chosen.tags : null,
  ...(kind === 'limit_near' ? { percent: Number(percent) } : {}),
  language,
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
