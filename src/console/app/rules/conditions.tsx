import type { ComponentChildren } from 'preact';
import { Icon } from '../icons.tsx';
import { Picker, Toggles } from '../parts/choices.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { TimeField } from '../parts/time-field.tsx';
import { TimeZoneOptions } from '../parts/time-zone-options.tsx';
import type { FieldErrors } from '../parts/use-action.ts';
import { deviceTimeZone } from '../time-zones.ts';
import { accountTimeZone } from '../welcome.ts';
import type { Condition, RuleForm, WhenForm } from './form.ts';
import { browserChoices, countryChoices, dayChoices, deviceChoices, language, languageChoices } from './words.ts';
import { toIso, toLocal } from './zoned-time.ts';

const titles: Record<Condition, string> = {
  devices: 'Device',
  browsers: 'Browser',
  countries: 'Country',
  languages: 'Language',
  days: 'Days',
  hours: 'Time of day',
  dates: 'Dates',
};

const initial: Required<WhenForm> = {
  devices: [],
  browsers: [],
  countries: [],
  languages: [],
  days: [],
  hours: { from: '07:00', to: '11:00' },
  dates: { from: '', until: '' },
};

interface Props {
  rule: RuleForm;
  onRule(rule: RuleForm): void;
  /** Such as `rules[2].when`. */
  path: string;
  errors: FieldErrors;
}

/** The conditions of a rule: those that are set, and a button for each other. */
export function Conditions({ rule, onRule, path, errors }: Props) {
  const { when, timezone } = rule;
  const shown = (Object.keys(titles) as Condition[]).filter((condition) => when[condition] !== undefined);
  const hidden = (Object.keys(titles) as Condition[]).filter((condition) => when[condition] === undefined);
  const set = (change: WhenForm) => onRule({ ...rule, when: { ...when, ...change } });
  const remove = (condition: Condition) => {
    const { [condition]: _, ...others } = when;
    onRule({ ...rule, when: others });
  };
  const hasTime = when.days !== undefined || when.hours !== undefined || when.dates !== undefined;
  return (
    <div class="stack">
      {shown.map((condition) => (
        <ConditionRow key={condition} title={titles[condition]} onRemove={() => remove(condition)}>
          <ConditionFields condition={condition} rule={rule} set={set} path={path} errors={errors} />
        </ConditionRow>
      ))}
      {hasTime && (
        <label class="condition">
          <span class="title">Time zone</span>
          <select
            value={timezone}
            onChange={(event) => onRule(inTimeZone(rule, event.currentTarget.value))}
            aria-invalid={errorAt(errors, `${path}.timezone`) !== undefined}
          >
            <TimeZoneOptions
              suggested={[
                [accountTimeZone(), 'Of your account'],
                [deviceTimeZone(), 'Of this device'],
                [timezone, 'Of this rule'],
              ]}
            />
          </select>
        </label>
      )}
      <fieldset class="row gap-s">
        <legend class="hint">{shown.length === 0 ? 'Only when' : 'And only when'}</legend>
        {hidden.map((condition) => (
          <button
            key={condition}
            type="button"
            class="button small"
            onClick={() => set({ [condition]: initial[condition] })}
          >
            <Icon name="plus" />
            {titles[condition]}
          </button>
        ))}
      </fieldset>
      <ErrorText>{shown.length === 0 ? errorAt(errors, path) : undefined}</ErrorText>
    </div>
  );
}

/** In another time zone, dates keep what the user has entered. */
function inTimeZone(rule: RuleForm, timezone: string): RuleForm {
  const { dates } = rule.when;
  if (dates === undefined) return { ...rule, timezone };
  const move = (iso: string) => toIso(toLocal(iso, rule.timezone), timezone);
  return { ...rule, timezone, when: { ...rule.when, dates: { from: move(dates.from), until: move(dates.until) } } };
}

const ConditionRow = ({
  title,
  onRemove,
  children,
}: {
  title: string;
  onRemove(): void;
  children: ComponentChildren;
}) => (
  <div class="condition">
    <span class="title">{title}</span>
    <div>{children}</div>
    <button type="button" class="plain" aria-label={`Remove condition ${title}`} onClick={onRemove}>
      <Icon name="close" />
    </button>
  </div>
);

interface FieldsProps extends Omit<Props, 'onRule'> {
  condition: Condition;
  set(change: WhenForm): void;
}

function ConditionFields({ condition, rule: { when, timezone }, set, path, errors }: FieldsProps) {
  const error = errorAt(errors, `${path}.${condition}`);
  switch (condition) {
    case 'devices':
    case 'browsers':
    case 'days': {
      const choices = { devices: deviceChoices, browsers: browserChoices, days: dayChoices }[condition];
      return (
        <>
          <Toggles
            label={titles[condition]}
            choices={choices}
            values={when[condition] ?? []}
            onValues={(values) => set({ [condition]: values })}
          />
          <ErrorText>{error}</ErrorText>
        </>
      );
    }
    case 'countries':
    case 'languages': {
      const isCountry = condition === 'countries';
      const names = new Map(countryChoices);
      return (
        <>
          <Picker
            label={isCountry ? 'Add country' : 'Add language'}
            choices={isCountry ? countryChoices : languageChoices}
            nameOf={(value) => (isCountry ? (names.get(value) ?? value) : language(value))}
            values={when[condition] ?? []}
            onValues={(values) => set({ [condition]: values })}
            isInvalid={error !== undefined}
          />
          <ErrorText>{error}</ErrorText>
        </>
      );
    }
    case 'hours':
      return <Hours hours={when.hours ?? initial.hours} set={set} error={error} />;
    case 'dates': {
      const dates = when.dates ?? initial.dates;
      return (
        <div class="grid gap-m">
          <TimeField
            label="From"
            value={dates.from}
            onValue={(from) => set({ dates: { ...dates, from } })}
            timeZone={timezone}
            error={errorAt(errors, `${path}.from`)}
          />
          <TimeField
            label="Until"
            value={dates.until}
            onValue={(until) => set({ dates: { ...dates, until } })}
            timeZone={timezone}
            error={errorAt(errors, `${path}.until`)}
          />
        </div>
      );
    }
  }
}

function Hours({
  hours: { from, to },
  set,
  error,
}: {
  hours: { from: string; to: string };
  set(change: WhenForm): void;
  error: string | undefined;
}) {
  return (
    <>
      <div class="row gap-l">
        <label class="row">
          <span>from</span>
          <input
            type="time"
            value={from}
            aria-invalid={error !== undefined}
            onInput={(event) => set({ hours: { from: event.currentTarget.value, to } })}
          />
        </label>
        <label class="row">
          <span>to</span>
          <input
            type="time"
            // The field has no 24:00, the end of the day.
            value={to === '24:00' ? '00:00' : to}
            aria-invalid={error !== undefined}
            onInput={(event) => {
              const { value } = event.currentTarget;
              set({ hours: { from, to: value === '00:00' ? '24:00' : value } });
            }}
          />
        </label>
        {to < from && <span class="hint">until the next day</span>}
      </div>
      <ErrorText>{error}</ErrorText>
    </>
  );
}
