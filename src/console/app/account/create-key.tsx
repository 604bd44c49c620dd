import { useId, useState } from 'preact/hooks';
import { problemWithName } from '../../../../events/fields.ts';
import type { Scope } from '../../../../events/scopes.ts';
import { api } from '../api.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { TimeField } from '../parts/time-field.tsx';
import { useAction } from '../parts/use-action.ts';
import { accessText, hasFullAccess, ownScopes, scopeTexts } from '../permissions.tsx';
import { currentMode, type Mode } from '../router.ts';
import { timeZoneText } from '../time-zones.ts';
import type { CreatedApiKey } from '../types.ts';
import { accountTimeZone, hasMode, keyOf } from '../welcome.ts';
import { KeySecret } from './key-secret.tsx';

const modes = [
  ['live', 'Live'],
  ['test', 'Test'],
] as const;

type Access = 'full' | 'read' | 'analytics' | 'custom';

const readOnly: Scope[] = ['codes.read', 'analytics.read', 'events.read', 'account.read'];
const analyticsOnly: Scope[] = ['analytics.read'];

const accessOptions = [
  ['full', 'Full'],
  ['read', 'Read only'],
  ['analytics', 'Analytics'],
  ['custom', 'Custom'],
] as const satisfies (readonly [Access, string])[];

/** A key cannot create one that may do more than itself. */
const isOffered = ([access]: readonly [Access, string]) => {
  if (access === 'custom') return true;
  if (access === 'full') return hasFullAccess();
  return (access === 'read' ? readOnly : analyticsOnly).every((scope) => ownScopes().includes(scope));
};

const lifetimes = [
  ['never', 'Never'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['custom', 'Another time'],
] as const;
type Lifetime = (typeof lifetimes)[number][0];

const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

interface KeyForm {
  name: string;
  mode: Mode;
  access: Access;
  /** The scopes of custom access. */
  scopes: readonly Scope[];
  lifetime: Lifetime;
  /** The time of a custom lifetime. */
  expires: string;
  /** Separated by commas or blanks. */
  networks: string;
}

const newForm = (): KeyForm => {
  const expires = keyOf(currentMode())?.expires_at ?? '';
  return {
    name: '',
    mode: currentMode(),
    access: (accessOptions.find(isOffered) ?? accessOptions[3])[0],
    scopes: ownScopes().filter((scope) => scope === 'codes.read'),
    // A key cannot create one that lives longer than itself.
    lifetime: expires === '' ? 'never' : 'custom',
    expires,
    networks: '',
  };
};

const scopesOf = ({ access, scopes }: KeyForm): readonly Scope[] | null =>
  ({ full: null, read: readOnly, analytics: analyticsOnly, custom: scopes })[access];

const expiryOf = ({ lifetime, expires }: KeyForm): string | null => {
  if (lifetime === 'never') return null;
  return lifetime === 'custom' ? expires : daysFromNow(Number(lifetime));
};

const networksOf = ({ networks }: KeyForm): string[] => networks.split(/[\s,]+/).filter((network) => network !== '');

export function CreateKeyDialog({ onCreated, onClose }: { onCreated(): Promise<void>; onClose(): void }) {
  const [form, setForm] = useState(newForm);
  const [created, setCreated] = useState<CreatedApiKey>();
  const { busy, errors, setErrors, recheck, run } = useAction(['name', 'scopes', 'expires_at', 'allowed_cidrs']);
  const change = (changed: Partial<KeyForm>) => setForm({ ...form, ...changed });
  const create = () =>
    run(async () => {
      const nameError = problemWithName(form.name);
      const [given, networks] = [scopesOf(form), networksOf(form)];
      const invalid = {
        ...(nameError === undefined ? {} : { name: `The name ${nameError}.` }),
        ...(given?.length === 0 ? { scopes: 'Choose at least one.' } : {}),
        ...(expiryOf(form) === '' ? { expires_at: 'Choose when the key expires.' } : {}),
      };
      setErrors(invalid);
      if (Object.keys(invalid).length > 0) return;
      const body = {
        name: form.name,
        mode: form.mode,
        scopes: given,
        expires_at: expiryOf(form),
        allowed_cidrs: networks.length === 0 ? null : networks,
      };
      setCreated(await api.post<CreatedApiKey>('/account/keys', body));
      await onCreated();
    });
  if (created !== undefined) return <KeySecret title="API key created" secret={created.key} onClose={onClose} />;
  return (
    <Dialog title="Create API key" onClose={onClose}>
      <Form onSubmit={create}>
        <Field
          label="Name"
          value={form.name}
          onValue={(name) => {
            change({ name });
            if (problemWithName(name) === undefined) recheck('name', undefined);
          }}
          error={errors['name']}
          placeholder="Website"
          hint="Where you use this key, so you can tell your keys apart."
        />
        {currentMode() === 'live' ? (
          <Segments label="Mode" options={modes} value={form.mode} onValue={(mode) => change({ mode })} />
        ) : (
          <p class="hint">
            This creates a test key.{' '}
            {hasMode('live') ? 'Switch to live mode to create a live key.' : 'Only a live key can create a live key.'}
          </p>
        )}
        <AccessFields form={form} change={change} error={errorAt(errors, 'scopes')} />
        <ExpiryFields form={form} change={change} error={errors['expires_at']} />
        <Field
          label="Networks (optional)"
          value={form.networks}
          onValue={(networks) => change({ networks })}
          error={Object.entries(errors).find(([field]) => field.startsWith('allowed_cidrs'))?.[1]}
          placeholder="203.0.113.0/24, 2001:db8::/32"
          hint="The key works only from these addresses and ranges. Leave empty for everywhere."
          isCode
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            Create key
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

interface PartProps {
  form: KeyForm;
  change(changed: Partial<KeyForm>): void;
  error: string | undefined;
}

function AccessFields({ form, change, error }: PartProps) {
  const given = scopesOf(form);
  return (
    <fieldset class="stack gap-xs">
      <legend>Access</legend>
      <Segments
        label="Access"
        options={accessOptions.filter(isOffered)}
        value={form.access}
        onValue={(access) => change({ access })}
      />
      {form.access === 'custom' ? (
        ownScopes().map((scope) => (
          <label key={scope} class="row nowrap check">
            <input
              type="checkbox"
              checked={form.scopes.includes(scope)}
              aria-invalid={error !== undefined}
              onChange={({ currentTarget: { checked } }) =>
                change({
                  scopes: ownScopes().filter((other) => (other === scope ? checked : form.scopes.includes(other))),
                })
              }
            />
            <span>
              {capitalized(scopeTexts[scope])} <code class="muted">{scope}</code>
            </span>
          </label>
        ))
      ) : (
        <p class="hint">{given === null ? 'The key can do everything.' : `The key can ${accessText(given)}.`}</p>
      )}
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

const capitalized = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

function ExpiryFields({ form, change, error }: PartProps) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>Expires</label>
      <select
        id={id}
        value={form.lifetime}
        onChange={({ currentTarget: { value } }) => change({ lifetime: value as Lifetime })}
      >
        {lifetimes.map(([lifetime, text]) => (
          <option key={lifetime} value={lifetime}>
            {text}
          </option>
        ))}
      </select>
      {form.lifetime === 'custom' && (
        <TimeField
          label={`Time (${timeZoneText(accountTimeZone())})`}
          value={form.expires}
          onValue={(expires) => change({ expires })}
          timeZone={accountTimeZone()}
          error={error}
        />
      )}
    </div>
  );
}
