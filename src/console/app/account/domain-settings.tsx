import { useId, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { completeUrl } from '../codes/destination.ts';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { More } from '../parts/more.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import type { Domain } from '../types.ts';

const urls = [
  ['root_url', 'The domain itself leads to', 'What people get who type only the domain.'],
  ['not_found_url', 'Unknown links lead to', 'For a short code that does not exist.'],
  ['expired_url', 'Codes that are not live lead to', 'For codes that have ended and have no fallback of their own.'],
] as const;

const textOf = (files: unknown) => (files === undefined ? '' : JSON.stringify(files, null, 2));

/** What the domain answers where no code does. */
export function DomainSettings({ domain, onChange }: { domain: Domain; onChange(): Promise<void> }) {
  const [values, setValues] = useState(Object.fromEntries(urls.map(([field]) => [field, domain[field] ?? ''])));
  const [apple, setApple] = useState(textOf(domain.app_links?.apple));
  const [android, setAndroid] = useState(textOf(domain.app_links?.android));
  const { busy, errors, setErrors, run } = useAction([...urls.map(([field]) => field), 'app_links']);
  const save = () =>
    run(async () => {
      const files = [read(apple), read(android)];
      if (files.includes(invalid)) {
        setErrors({ app_links: 'The files must be JSON.' });
        return;
      }
      const [appleFile, androidFile] = files;
      const links = {
        ...(appleFile === undefined ? {} : { apple: appleFile }),
        ...(androidFile === undefined ? {} : { android: androidFile }),
      };
      await api.patch(`/domains/${domain.id}`, {
        ...Object.fromEntries(
          urls.map(([field]) => [field, values[field] === '' ? null : completeUrl(values[field] ?? '').url]),
        ),
        app_links: Object.keys(links).length === 0 ? null : links,
      });
      await onChange();
      toast('Domain saved.');
    });
  return (
    <section class="card" aria-label="Settings of the domain">
      <Form onSubmit={save}>
        {urls.map(([field, label, hint]) => (
          <Field
            key={field}
            label={label}
            inputMode="url"
            isCode
            value={values[field] ?? ''}
            onValue={(value) => setValues({ ...values, [field]: value })}
            error={errors[field]?.replace(new RegExp(`^${field} `), 'The URL ')}
            placeholder="A page of this service"
            hint={hint}
          />
        ))}
        <More
          title="Open links in an app"
          isUsed={domain.app_links !== null}
          hasError={errors['app_links'] !== undefined}
        >
          <FileField label="apple-app-site-association" value={apple} onValue={setApple} />
          <FileField label="assetlinks.json" value={android} onValue={setAndroid} />
          {errors['app_links'] !== undefined && (
            <p class="error" role="alert">
              {errors['app_links']}
            </p>
          )}
        </More>
        <div class="row actions">
          <button type="submit" class="button primary" disabled={busy}>
            Save
          </button>
        </div>
      </Form>
    </section>
  );
}

const invalid = Symbol('invalid');

/** The JSON in a field; undefined if it is empty. */
function read(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return invalid;
  }
}

function FileField({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
  const id = useId();
  return (
    <div class="stack gap-xs field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={4}
        spellcheck={false}
        autocapitalize="none"
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  );
}
