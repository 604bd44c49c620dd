import { useId } from 'preact/hooks';
import type { ContentType } from '../../../qr/content/schemas.ts';
import { AreaField } from '../parts/area-field.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { Field } from '../parts/field.tsx';
import { TimeZoneOptions } from '../parts/time-zone-options.tsx';
import type { FieldErrors } from '../parts/use-action.ts';
import { deviceTimeZone } from '../time-zones.ts';
import { accountTimeZone } from '../welcome.ts';
import { type FormField, shownFields, type Values } from './forms.ts';

interface Props {
  type: ContentType;
  values: Values;
  errors: FieldErrors;
  set(name: string, value: string): void;
}

/** The fields of a kind of content. */
export const ContentFields = ({ type, values, errors, set }: Props) =>
  shownFields(type, values).map((field) => (
    <ContentField
      key={field.name}
      field={field}
      value={values[field.name] ?? ''}
      isDay={values['all_day'] === 'true'}
      error={errors[field.name]}
      onValue={(value) => set(field.name, value)}
    />
  ));

interface FieldProps {
  field: FormField;
  value: string;
  isDay: boolean;
  error: string | undefined;
  onValue(value: string): void;
}

function ContentField({ field, value, isDay, error, onValue }: FieldProps) {
  const { label, hint, placeholder, isCode = false } = field;
  switch (field.kind) {
    case 'lines':
      return <AreaField label={label} value={value} onValue={onValue} error={error} />;
    case 'choice':
      return <ChoiceField field={field} value={value} onValue={onValue} />;
    case 'zone':
      return <ZoneField label={label} value={value} onValue={onValue} />;
    case 'check':
      return (
        <label class="row nowrap check">
          <input
            type="checkbox"
            checked={value === 'true'}
            onChange={(event) => onValue(event.currentTarget.checked ? 'true' : '')}
          />
          <span>{label}</span>
        </label>
      );
    case 'time':
      return <MomentField label={label} value={value} onValue={onValue} error={error} isDay={isDay} />;
    default:
      return (
        <Field
          label={label}
          value={value}
          onValue={onValue}
          error={error}
          isCode={isCode}
          {...(placeholder === undefined ? {} : { placeholder })}
          {...(hint === undefined ? {} : { hint })}
        />
      );
  }
}

function ChoiceField({ field, value, onValue }: Pick<FieldProps, 'field' | 'value' | 'onValue'>) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>{field.label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {field.choices?.map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface PlainProps {
  label: string;
  value: string;
  onValue(value: string): void;
}

function ZoneField({ label, value, onValue }: PlainProps) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        <TimeZoneOptions
          suggested={[
            [accountTimeZone(), 'Of the account'],
            [deviceTimeZone(), 'Of this device'],
          ]}
        />
      </select>
    </div>
  );
}

/** A day, or a day and a time on the clocks of the event's zone. */
function MomentField({
  label,
  value,
  onValue,
  error,
  isDay,
}: PlainProps & { error: string | undefined; isDay: boolean }) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type={isDay ? 'date' : 'datetime-local'}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
      />
      <ErrorText id={`${id}-error`}>{error}</ErrorText>
    </div>
  );
}
