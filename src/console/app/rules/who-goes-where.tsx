import { useLayoutEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { displayDestination } from '../codes/destination.ts';
import { Icon } from '../icons.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { TimeField } from '../parts/time-field.tsx';
import { useAction } from '../parts/use-action.ts';
import type { Availability, QrCode, Resolved } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';
import { conditionsText, ruleTitle } from './sentence.ts';
import { browserChoices, type Choice, countryChoices, deviceChoices, languageChoices } from './words.ts';

interface Scan {
  country: string;
  device: string;
  browser: string;
  language: string;
  at: string;
  query: string;
}

const anyScan: Scan = { country: '', device: 'ios', browser: 'safari', language: '', at: '', query: '' };

/** Asks the service where a scan would lead. Only what is saved counts. */
export function WhoGoesWhere({ code, hasChanges }: { code: QrCode; hasChanges: boolean }) {
  const [scan, setScan] = useState(anyScan);
  const [result, setResult] = useState<Resolved>();
  const { busy, run } = useAction();
  const set = (change: Partial<Scan>) => {
    setScan({ ...scan, ...change });
    setResult(undefined);
  };
  useLayoutEffect(() => setResult(undefined), [code.updated_at]);
  const resolve = (visitor?: string) =>
    run(async () => {
      const given = Object.entries(scan).filter(([, value]) => value !== '');
      const body = { ...Object.fromEntries(given), ...(visitor === undefined ? {} : { visitor }) };
      setResult(await api.post<Resolved>(`/qrcodes/${code.id}/resolve`, body));
    });
  return (
    <section class="card stack" aria-label="Who goes where?">
      <h2>Who goes where?</h2>
      <p class="hint">Describe a scan to see where it leads. Nothing is recorded.</p>
      <Form onSubmit={resolve}>
        <div class="grid">
          <Choose label="Device" value={scan.device} choices={deviceChoices} onValue={(device) => set({ device })} />
          <Choose
            label="Browser"
            value={scan.browser}
            choices={browserChoices}
            onValue={(browser) => set({ browser })}
          />
          <Choose
            label="Country"
            value={scan.country}
            choices={[['', 'Unknown'], ...countryChoices.filter(([country]) => country !== 'XX')]}
            onValue={(country) => set({ country })}
          />
          <Choose
            label="Language"
            value={scan.language}
            choices={[['', 'Unknown'], ...languageChoices]}
            onValue={(language) => set({ language })}
          />
          <TimeField
            label="Time (empty for now)"
            value={scan.at}
            onValue={(at) => set({ at })}
            timeZone={accountTimeZone()}
          />
          {code.forward_query === true && (
            <Field
              label="Query string"
              placeholder="table=5"
              value={scan.query}
              onValue={(query) => set({ query })}
              isCode
            />
          )}
        </div>
        <div class="row actions">
          <button type="submit" class="button primary" disabled={busy}>
            Show where it leads
          </button>
          {result?.variant != null && (
            <button type="button" class="button" disabled={busy} onClick={() => resolve(crypto.randomUUID())}>
              <Icon name="refresh" />
              Another visitor
            </button>
          )}
        </div>
      </Form>
      <div role="status">
        {hasChanges && <p class="hint">Answers for the saved rules. Save your changes to try them.</p>}
        {result !== undefined && <Answer code={code} result={result} />}
      </div>
    </section>
  );
}

const Choose = ({
  label,
  value,
  choices,
  onValue,
}: {
  label: string;
  value: string;
  choices: Choice[];
  onValue(value: string): void;
}) => (
  <label class="stack gap-xs field">
    <span class="label">{label}</span>
    <select value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      {choices.map(([choice, name]) => (
        <option key={choice} value={choice}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

const reasons: Record<Exclude<Availability, 'live'>, string> = {
  scheduled: 'the code has not started yet',
  expired: 'the code has expired',
  limit_reached: 'the code has reached its limit',
};

function Answer({ code, result: { location, rule, variant, availability } }: { code: QrCode; result: Resolved }) {
  if (location === null)
    return (
      <p class="stack gap-xs answer">
        <strong>A page that says why</strong>
        <span class="hint">{availability === 'live' ? '' : `Because ${reasons[availability]}.`}</span>
      </p>
    );
  return (
    <p class="stack gap-xs answer">
      <strong class="wrapped">
        <span aria-hidden="true">→ </span>
        {displayDestination(location)}
      </strong>
      <span class="hint">
        {availability === 'live' ? byWhat(code, rule, variant) : `Because ${reasons[availability]}.`}
      </span>
    </p>
  );
}

/** Which rule and variant decided. */
function byWhat({ rules = [] }: QrCode, id: string | null, variantId: string | null): string {
  if (id === null) return rules.length === 0 ? 'The destination of the code.' : 'No rule applies: the destination.';
  const index = rules.findIndex((rule) => rule.id === id);
  const rule = rules[index];
  if (rule === undefined) return 'By a rule that was changed meanwhile.';
  const by = `By rule ${index + 1}: ${ruleTitle(rule, accountTimeZone())}.`;
  if (!('split' in rule)) return by;
  const i = rule.split.findIndex((variant) => variant.id === variantId);
  const variant = rule.split[i]?.name ?? `variant ${String.fromCharCode(65 + i)}`;
  return rule.name === undefined && conditionsText(rule.when, '') === 'Everyone'
    ? `By rule ${index + 1}, an A/B split: ${variant}.`
    : `${by.slice(0, -1)}, ${variant}.`;
}
