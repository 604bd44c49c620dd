import { number, plural } from '../format.ts';
import { Field } from '../parts/field.tsx';
import { errorOf } from '../parts/field-errors.ts';
import { More } from '../parts/more.tsx';
import { TimeField } from '../parts/time-field.tsx';
import type { FieldErrors } from '../parts/use-action.ts';
import { timeZoneText } from '../time-zones.ts';
import type { QrCode } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';
import type { LeadsForm } from './form.ts';

interface Props {
  form: LeadsForm;
  onForm(change: Partial<LeadsForm>): void;
  code: QrCode;
  errors: FieldErrors;
}

/** When the code leads to its destinations, how often, and where it leads otherwise. */
export function ScheduleFields({ form, onForm, code, errors }: Props) {
  const { starts_at, expires_at, max_scans, fallback } = form;
  const fields = ['starts_at', 'expires_at', 'max_scans', 'fallback_url'];
  const timeZone = accountTimeZone();
  return (
    <More
      title="Schedule and limit"
      isUsed={[code.starts_at, code.expires_at, code.max_scans, code.fallback_url].some((field) => field !== undefined)}
      hasError={fields.some((field) => errorOf(errors, field) !== undefined)}
    >
      <div class="grid gap-m">
        <TimeField
          label="Starts"
          value={starts_at}
          onValue={(value) => onForm({ starts_at: value })}
          timeZone={timeZone}
          error={errorOf(errors, 'starts_at')}
        />
        <TimeField
          label="Ends"
          value={expires_at}
          onValue={(value) => onForm({ expires_at: value })}
          timeZone={timeZone}
          error={errorOf(errors, 'expires_at')}
        />
      </div>
      <p class="hint">Optional. In the time zone of your account, {timeZoneText(timeZone)}.</p>
      <Field
        label="Scan limit"
        inputMode="numeric"
        placeholder="No limit"
        value={max_scans}
        onValue={(value) => onForm({ max_scans: value.replace(/[\s.,]/g, '') })}
        error={errorOf(errors, 'max_scans')}
        hint="Counts from the first scan of the code. Bots do not count."
      />
      <LimitMeter code={code} />
      <Field
        label="Otherwise lead to"
        inputMode="url"
        isCode
        placeholder="A page that says why"
        value={fallback}
        onValue={(value) => onForm({ fallback: value })}
        error={errorOf(errors, 'fallback_url')}
        hint="Where people go before the start, after the end and beyond the limit."
      />
    </More>
  );
}

/** How much of the limit that is in effect is used. */
function LimitMeter({ code: { max_scans, remaining_scans } }: { code: QrCode }) {
  if (max_scans === undefined || remaining_scans === undefined) return null;
  const used = max_scans - remaining_scans;
  return (
    <div class="stack gap-xs limit">
      <meter
        min={0}
        max={max_scans}
        value={used}
        high={max_scans * 0.9}
        optimum={0}
        aria-label="Used part of the scan limit"
      />
      <span>
        {number(used)} of {plural(max_scans, 'scan')} used, {number(remaining_scans)} left
      </span>
    </div>
  );
}
