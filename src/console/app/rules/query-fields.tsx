import { utmFields } from '../../../../events/targeting/targeting-words.ts';
import { Field } from '../parts/field.tsx';
import { errorOf } from '../parts/field-errors.ts';
import { More } from '../parts/more.tsx';
import type { FieldErrors } from '../parts/use-action.ts';
import type { QrCode } from '../types.ts';
import type { LeadsForm } from './form.ts';

const examples = { source: 'flyer', medium: 'qr', campaign: 'spring', term: 'menu', content: 'front' };

interface Props {
  form: LeadsForm;
  onForm(change: Partial<LeadsForm>): void;
  code: QrCode;
  errors: FieldErrors;
}

/** What is added to the query string of every destination. */
export const QueryFields = ({ form: { forward_query, utm }, onForm, code, errors }: Props) => (
  <More
    title="Campaign and query string"
    isUsed={code.utm !== undefined || code.forward_query === true}
    hasError={utmFields.some((field) => errorOf(errors, `utm.${field}`) !== undefined)}
  >
    <fieldset class="grid gap-m columns-s">
      <legend>UTM parameters</legend>
      {utmFields.map((field) => (
        <Field
          key={field}
          label={`utm_${field}`}
          placeholder={examples[field]}
          value={utm[field]}
          onValue={(value) => onForm({ utm: { ...utm, [field]: value } })}
          error={errorOf(errors, `utm.${field}`)}
          isCode
        />
      ))}
    </fieldset>
    <p class="hint">Added to every destination that does not have them itself.</p>
    <label class="row nowrap check">
      <input
        type="checkbox"
        checked={forward_query}
        onChange={(event) => onForm({ forward_query: event.currentTarget.checked })}
      />
      <span>
        Pass on the query string of the short link
        <span class="hint">{code.short_url}?table=5 leads to the destination with table=5.</span>
      </span>
    </label>
  </More>
);
