import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { displayUrl } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Heading } from '../parts/heading.tsx';
import { NoteField } from '../parts/note-field.tsx';
import { PrintWarning } from '../parts/print-warning.tsx';
import { Loading } from '../parts/states.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { navigate, pageUrl, useRoute } from '../router.ts';
import type { CreatedQrCode, QrCode } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { DestinationField, parseDestination, validateFields } from './destination-field.tsx';
import { PlanFull, usePlanUsage } from './plan-full.tsx';
import { Preview } from './preview.tsx';
import { suggestShortCode, useAvailability } from './short-code.ts';
import { type Style, withoutDefaults } from './style.ts';
import { StyleEditor } from './style-editor.tsx';

const fields = ['name', 'destination_url', 'short_code', 'tags', 'note', 'style'] as const;

/** The create form, empty or with the fields of the code that the query parameter `from` names. */
export function CreatePage() {
  const from = useRoute().query.get('from');
  return from === null || !/^qr_\w+$/.test(from) ? <CreateForm key="new" /> : <DuplicatePage key={from} id={from} />;
}

function DuplicatePage({ id }: { id: string }) {
  const { data, error, reload } = useResource<QrCode>(`/qrcodes/${id}`);
  if (data !== undefined) return <CreateForm original={data} />;
  // The original was deleted: the form is still useful.
  if (error?.status === 404) return <CreateForm />;
  return <Loading error={error} retry={reload} lines={8} />;
}

const copySuffix = ' copy';
const nameOfCopy = (name: string) => [...name].slice(0, 255 - copySuffix.length).join('') + copySuffix;

function CreateForm({ original }: { original?: QrCode }) {
  const [name, setName] = useState(original === undefined ? '' : nameOfCopy(original.name));
  const [destination, setDestination] = useState(original?.destination_url ?? '');
  const [customCode, setCustomCode] = useState('');
  const [suggestedCode] = useState(suggestShortCode);
  const [tags, setTags] = useState<string[]>(original?.tags ?? []);
  const [note, setNote] = useState(original?.note ?? '');
  const [style, setStyle] = useState<Style>(original?.style ?? {});
  const { busy, errors, setErrors, recheck, run } = useAction(fields);
  const usage = usePlanUsage();
  const shortCode = customCode === '' ? suggestedCode : customCode;
  const availability = useAvailability(shortCode);

  const validate = (): FieldErrors => ({
    ...validateFields(name, destination),
    ...(availability.state === 'invalid' ? { short_code: `The short link ${availability.error}.` } : {}),
  });
  const create = (status: 'active' | 'draft') =>
    run(async () => {
      const invalid = validate();
      if (Object.keys(invalid).length > 0) {
        setErrors(invalid);
        return;
      }
      const code = await api.post<CreatedQrCode>(
        original === undefined ? '/qrcodes' : `/qrcodes/${original.id}/duplicate`,
        {
          name,
          destination_url: parseDestination(destination).url,
          short_code: shortCode,
          status,
          tags,
          note,
          style: withoutDefaults(style),
        },
      );
      toast(status === 'draft' ? 'Draft saved.' : 'Code created.');
      navigate(pageUrl(`/codes/${code.id}`));
    });
  const isDisabled = busy || usage?.left === 0;

  return (
    <>
      <Heading
        title="Create code"
        lead={original === undefined ? undefined : `A copy of “${original.name}” with a new short link.`}
      />
      <PlanFull usage={usage} />
      <PrintWarning url={bootstrap.short_base_url} />
      <Form
        class="create"
        onSubmit={() => {
          if (!isDisabled) create('active');
        }}
      >
        <div class="card">
          <Field
            label="Name"
            value={name}
            onValue={(value) => {
              setName(value);
              recheck('name', validateFields(value, destination)['name']);
            }}
            error={errors['name']}
            placeholder="Spring menu"
            hint="Visitors do not see the name."
          />
          <DestinationField
            value={destination}
            onValue={(value) => {
              setDestination(value);
              recheck('destination_url', validateFields(name, value)['destination_url']);
            }}
            error={errors['destination_url']}
            placeholder="https://example.com/menu"
            hint="You can change it at any time, even after printing."
          />
          <Field
            label="Short link"
            prefix={`${displayUrl(bootstrap.short_base_url)}/`}
            value={customCode}
            onValue={(value) => {
              setCustomCode(value.trim());
              // The hint says whether the new one is valid.
              recheck('short_code', undefined);
            }}
            error={errors['short_code']}
            placeholder={suggestedCode}
            isCode
            maxLength={50}
            hint={<ShortCodeHint isCustom={customCode !== ''} availability={availability} />}
          />
          <TagsField
            label="Tags"
            tags={tags}
            onTags={setTags}
            error={errorAt(errors, 'tags')}
            hint="Optional, to find and compare codes. Press Enter after each tag."
          />
          <NoteField value={note} onValue={setNote} error={errors['note']} />
          <h2>Style</h2>
          <StyleEditor style={style} onStyle={setStyle} />
          {errorAt(errors, 'style') !== undefined && (
            <p class="error" role="alert">
              {errorAt(errors, 'style')}
            </p>
          )}
        </div>
        <div class="side">
          <Preview url={`${bootstrap.short_base_url}/${shortCode}`} style={style} shortCode={shortCode} />
          <p class="hint">You cannot change the short link or the style later.</p>
          <div class="actions">
            <button type="button" class="button" disabled={isDisabled} onClick={() => create('draft')}>
              Save as draft
            </button>
            <button type="submit" class="button primary" disabled={isDisabled}>
              {busy ? 'Creating…' : 'Create code'}
            </button>
          </div>
        </div>
      </Form>
    </>
  );
}

function ShortCodeHint({
  isCustom,
  availability,
}: {
  isCustom: boolean;
  availability: ReturnType<typeof useAvailability>;
}) {
  if (!isCustom) return <span>Leave empty to use the suggestion, or choose your own.</span>;
  if (availability.state === 'checking') return <span role="status">Checking availability…</span>;
  if (availability.state === 'available')
    return (
      <span role="status" class="good">
        <Icon name="check" /> Available
      </span>
    );
  return (
    <span role="status" class="bad">
      The short link {availability.error}.
    </span>
  );
}
