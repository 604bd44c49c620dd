import { useId, useState } from 'preact/hooks';
import { problemWithName } from '../../../../events/fields.ts';
import { pdfLanguages } from '../../../../events/languages.ts';
import { api } from '../api.ts';
import { AreaField } from '../parts/area-field.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { browserLanguage, LanguageField } from '../parts/language-field.tsx';
import { Segments } from '../parts/segments.tsx';
import { TimeZoneOptions } from '../parts/time-zone-options.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import { deviceTimeZone } from '../time-zones.ts';
import type { Report } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';
import { type ChosenCodes, ChosenCodesFields, chosenBody, chosenErrors, chosenOf } from './chosen-codes.tsx';

const intervals = [
  ['week', 'Every week'],
  ['month', 'Every month'],
] as const;
const formats = [
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
] as const;

/** What the user has entered. */
interface Fields {
  name: string;
  every: Report['every'];
  format: Report['format'];
  language: Report['language'];
  timezone: string;
  chosen: ChosenCodes;
  /** One address a line. */
  to: string;
}

const fieldsOf = (report: Report | undefined): Fields => ({
  name: report?.name ?? '',
  every: report?.every ?? 'month',
  format: report?.format ?? 'pdf',
  language: report?.language ?? browserLanguage(pdfLanguages),
  timezone: report?.timezone ?? accountTimeZone(),
  chosen: chosenOf(report, 'codes'),
  to: (report?.to ?? []).join('\n'),
});

const addressesIn = (text: string) => text.split(/[\s,;]+/).filter((email) => email !== '');

function errorsOf({ name, chosen, to, format, language }: Fields): FieldErrors {
  const nameProblem = problemWithName(name);
  const isWritable = format !== 'pdf' || pdfLanguages.includes(language);
  return {
    ...(nameProblem === undefined ? {} : { name: name.trim() === '' ? 'Enter a name.' : `The name ${nameProblem}.` }),
    ...chosenErrors(chosen),
    ...(addressesIn(to).length === 0 ? { to: 'Enter at least one e-mail address.' } : {}),
    ...(isWritable ? {} : { language: 'PDF files lack the letters of this language. Choose CSV or another language.' }),
  };
}

interface Props {
  /** Undefined for a new one. */
  report?: Report;
  isMailed: boolean;
  onSaved(): Promise<void>;
  onClose(): void;
}

/** The dialog that sets up a report, or changes one. */
export function ReportDialog({ report, isMailed, onSaved, onClose }: Props) {
  const zoneId = useId();
  const [fields, setFields] = useState(() => fieldsOf(report));
  const { busy, errors, setErrors, recheck, run } = useAction(['name', 'qr_ids', 'tags', 'to', 'language', 'timezone']);
  const set = (field: string, change: Partial<Fields>) => {
    const next = { ...fields, ...change };
    setFields(next);
    recheck(field, errorsOf(next)[field]);
  };
  const { name, every, format, language, timezone, chosen, to } = fields;
  const submit = () =>
    run(async () => {
      const invalid = errorsOf(fields);
      if (Object.keys(invalid).length > 0) {
        setErrors(invalid);
        return;
      }
      const body = { name, every, format, language, timezone, ...chosenBody(chosen), to: addressesIn(to) };
      if (report === undefined) await api.post<Report>('/reports', body);
      else await api.patch<Report>(`/reports/${report.id}`, body);
      await onSaved();
      toast(report === undefined ? 'Report created.' : 'Report changed.');
      onClose();
    });
  return (
    <Dialog title={report === undefined ? 'Create report' : `Change ${report.name}`} onClose={onClose}>
      <Form onSubmit={submit}>
        <Field
          label="Name"
          value={name}
          onValue={(value) => set('name', { name: value })}
          error={errors['name']}
          placeholder="Summer campaign"
          hint="The title of the report, and the subject of the mail."
        />
        <Segments
          label="How often"
          options={intervals}
          value={every}
          onValue={(value) => set('every', { every: value })}
        />
        <ChosenCodesFields
          label="What the report is about"
          chosen={chosen}
          errors={errors}
          onChosen={(value, field) => set(field, { chosen: value })}
        />
        <AreaField
          label="E-mail addresses"
          value={to}
          onValue={(value) => set('to', { to: value })}
          error={errorAt(errors, 'to')}
          hint={`Up to 20, one a line. Each gets a mail of its own.${isMailed ? '' : ' Nothing is mailed until the operator sets SMTP_URL.'}`}
        />
        <Segments
          label="File"
          options={formats}
          value={format}
          onValue={(value) => set('language', { format: value })}
        />
        <LanguageField
          value={language}
          onValue={(value) => set('language', { language: value })}
          error={errors['language']}
          hint="Of the file and the mail."
        />
        <div class="stack gap-xs field">
          <label for={zoneId}>Time zone</label>
          <select
            id={zoneId}
            value={timezone}
            onChange={(event) => set('timezone', { timezone: event.currentTarget.value })}
          >
            <TimeZoneOptions
              suggested={[
                [timezone, 'Now'],
                [accountTimeZone(), 'Of the account'],
                [deviceTimeZone(), 'Of this device'],
              ]}
            />
          </select>
          <p class="hint">Mailed at 6 in the morning on the day after the {every}.</p>
        </div>
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            {busy ? 'Saving…' : report === undefined ? 'Create report' : 'Save'}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
