import { Field } from '../parts/field.tsx';
import { errorOf } from '../parts/field-errors.ts';
import { Segments } from '../parts/segments.tsx';
import type { FieldErrors } from '../parts/use-action.ts';
import { Conditions } from './conditions.tsx';
import { newVariant, type RuleForm } from './form.ts';
import { Split } from './split.tsx';

interface Props {
  rule: RuleForm;
  onRule(rule: RuleForm): void;
  /** Such as `rules[2]`. */
  path: string;
  errors: FieldErrors;
}

const kinds = [
  ['one', 'One destination'],
  ['split', 'A/B split'],
] as const;

/** The fields of one rule. */
export function RuleFields({ rule, onRule, path, errors }: Props) {
  const { name, destination, split } = rule;
  const setKind = (kind: 'one' | 'split') =>
    onRule(
      kind === 'one'
        ? { ...rule, destination: split[0]?.destination ?? '', split: [] }
        : { ...rule, destination: '', split: [newVariant(destination), newVariant()] },
    );
  return (
    <div class="stack rule-fields">
      <Conditions rule={rule} onRule={onRule} path={`${path}.when`} errors={errors} />
      <Segments label="Leads to" options={kinds} value={split.length === 0 ? 'one' : 'split'} onValue={setKind} />
      {split.length === 0 ? (
        <Field
          label="Destination"
          inputMode="url"
          isCode
          placeholder="https://example.com/breakfast"
          value={destination}
          onValue={(value) => onRule({ ...rule, destination: value })}
          error={errorOf(errors, `${path}.destination_url`)}
        />
      ) : (
        <Split
          split={split}
          onSplit={(next) => onRule({ ...rule, split: next })}
          path={`${path}.split`}
          errors={errors}
        />
      )}
      <Field
        label="Name of the rule"
        placeholder="Breakfast"
        hint="Optional. Shown in the analytics and in the history."
        value={name}
        onValue={(value) => onRule({ ...rule, name: value })}
        error={errorOf(errors, `${path}.name`)}
      />
    </div>
  );
}
