import { useId, useState } from 'preact/hooks';
import { problemWithName } from '../../../../events/fields.ts';
import { CodeChoices } from '../analytics/code-picker.tsx';
import { api } from '../api.ts';
import { AreaField } from '../parts/area-field.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import { TimeZoneOptions } from '../parts/time-zone-options.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import { deviceTimeZone } from '../time-zones.ts';
import type { Report } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';

const subjects = [
  ['codes', 'Codes'],
  ['tags', 'Tags'],
] as const;
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
  timezone: string;
  subject: 'codes' | 'tags';
  codes: ReadonlySet<string>;
  tags: string[];
  /** One address a line. */
  to: string;
}

const fieldsOf = (report: Report | undefined): Fields => ({
  name: report?.name ?? '',
  every: report?.every ?? 'month',
  format: report?.format ?? 'pdf',
  timezone: report?.timezone ?? accountTimeZone(),
  subject: report === undefined || report.qr_ids !== null ? 'codes' : 'tags',
  codes: new Set(report?.qr_ids ?? []),
  tags: report?.tags ?? [],
  to: (report?.to ?? []).join('\n'),
});

const addressesIn = (text: string) => text.split(/[\s,;]+/).filter((email) => email !== '');

function errorsOf({ name, subject, codes, tags, to }: Fields): FieldErrors {
  const nameProblem = problemWithName(name);
  return {
    ...(nameProblem === undefined ? {} : { name: name.trim() === '' ? 'Enter a name.' : `The name ${nameProblem}.` }),
    ...(subject === 'codes' && codes.size === 0 ? { qr_ids: 'Choose at least one code.' } : {}),
    ...(subject === 'tags' && tags.length === 0 ? { tags: 'Add at least one tag.' } : {}),
    ...(addressesIn(to).length === 0 ? { to: 'Enter at least one e-mail address.' } : {}),
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
  const { busy, errors, setErrors, recheck, run } = useAction(['name', 'qr_ids', 'tags', 'to', 'timezone']);
  const set = (field: string, change: Partial<Fields>) => {
    const next = { ...fields, ...change };
    setFields(next);
    recheck(field, errorsOf(next)[field]);
  };
  const { name, every, format, timezone, subject, codes, tags, to } = fields;
  const submit = () =>
    run(async () => {
      const invalid = errorsOf(fields);
      if (Object.keys(invalid).length > 0) {
        setErrors(invalid);
        return;
      }
      const about = subject === 'codes' ? { qr_ids: [...codes] } : { tags };
      const body = { name, every, format, timezone, ...about, to: addressesIn(to) };
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
        <Segments
          label="What the report is about"
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
        <AreaField
          label="E-mail addresses"
          value={to}
          onValue={(value) => set('to', { to: value })}
          error={errorAt(errors, 'to')}
          hint={`Up to 20, one a line. Each gets a mail of its own.${isMailed ? '' : ' Nothing is mailed until the operator sets SMTP_URL.'}`}
        />
        <Segments label="File" options={formats} value={format} onValue={(value) => set('format', { format: value })} />
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
