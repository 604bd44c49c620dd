import { useId } from 'preact/hooks';
import { displayUrl } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Heading } from '../parts/heading.tsx';
import { More } from '../parts/more.tsx';
import { NoteField } from '../parts/note-field.tsx';
import { PrintWarning } from '../parts/print-warning.tsx';
import { Loading } from '../parts/states.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import { useResource } from '../resource.ts';
import { useRoute } from '../router.ts';
import { KindOfCode } from '../static/kind.tsx';
import { StaticPage } from '../static/page.tsx';
import type { QrCode } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { DestinationField } from './destination-field.tsx';
import { DomainSelect } from './domain-select.tsx';
import { LogoEditor } from './logo-editor.tsx';
import { PlanFull, usePlanUsage } from './plan-full.tsx';
import { Preview } from './preview.tsx';
import { FrameEditor } from './print-editor.tsx';
import { withField } from './style.ts';
import { hasPreset, StyleDetails, StylePresets } from './style-editor.tsx';
import { type CreateForm, useCreateForm } from './use-create-form.ts';

/** The create form, empty or with the fields of the code that the query parameter `from` names. */
export function CreatePage() {
  const { query } = useRoute();
  const from = query.get('from');
  if (from === null && query.get('kind') === 'static') return <StaticPage />;
  return from === null || !/^qr_\w+$/.test(from) ? <NewCode key="new" /> : <DuplicatePage key={from} id={from} />;
}

function DuplicatePage({ id }: { id: string }) {
  const { data, error, reload } = useResource<QrCode>(`/qrcodes/${id}`);
  if (data !== undefined) return <NewCode original={data} />;
  // The original was deleted: the form is still useful.
  if (error?.status === 404) return <NewCode />;
  return <Loading error={error} retry={reload} lines={8} />;
}

function NewCode({ original }: { original?: QrCode }) {
  const form = useCreateForm(original);
  const usage = usePlanUsage();
  const isDisabled = form.busy || usage?.left === 0;
  return (
    <>
      <Heading
        title="Create code"
        lead={original === undefined ? undefined : `A copy of “${original.name}” with a new short link.`}
      />
      {original === undefined && <KindOfCode kind="link" />}
      <PlanFull usage={usage} />
      <PrintWarning url={bootstrap.short_base_url} />
      <Form
        class="create"
        onSubmit={() => {
          if (!isDisabled) form.create('active');
        }}
      >
        <CodeFields form={form} original={original} />
        <PreviewAndActions form={form} isDisabled={isDisabled} />
      </Form>
    </>
  );
}

/** What most codes need; the rest is closed until it is used or wrong. */
const CodeFields = ({ form, original }: { form: CreateForm; original: QrCode | undefined }) => (
  <div class="stack">
    <Basics form={form} />
    <More
      title="Short link, tags and note"
      isUsed={original?.tags !== undefined || original?.note !== undefined}
      hasError={['domain', 'short_code', 'tags', 'note'].some((field) => errorAt(form.errors, field) !== undefined)}
    >
      <DomainChoice form={form} />
      <Field
        label="Short link"
        prefix={`${form.domain === '' ? displayUrl(bootstrap.short_base_url) : form.domain}/`}
        value={form.customCode}
        onValue={form.setCustomCode}
        error={form.errors['short_code']}
        placeholder={form.suggestedCode}
        isCode
        maxLength={50}
        hint={<ShortCodeHint form={form} />}
      />
      <TagsField
        label="Tags"
        tags={form.tags}
        onTags={form.setTags}
        error={errorAt(form.errors, 'tags')}
        hint="Optional, to find and compare codes. Press Enter after each tag."
      />
      <NoteField value={form.note} onValue={form.setNote} error={form.errors['note']} />
    </More>
    <More title="Shapes, colors and print" isUsed={!hasPreset(original?.style ?? {})} hasError={false}>
      <StyleDetails style={form.style} onStyle={form.setStyle} />
    </More>
  </div>
);

function Basics({ form: { errors, style, setStyle, shortUrl, ...form } }: { form: CreateForm }) {
  return (
    <div class="card stack">
      <Field
        label="Name"
        value={form.name}
        onValue={form.setName}
        error={errors['name']}
        placeholder="Spring menu"
        hint="Visitors do not see the name."
      />
      <DestinationField
        value={form.destination}
        onValue={form.setDestination}
        error={errors['destination_url']}
        placeholder="https://example.com/menu"
        hint="You can change it at any time, even after printing."
      />
      <LogoEditor logo={style.logo} onLogo={(logo) => setStyle(withField(style, 'logo', logo))} />
      <FrameEditor
        frame={style.frame}
        fallbackColor={style.dotsColor ?? '#000000'}
        onFrame={(frame) => setStyle(withField(style, 'frame', frame))}
      />
      <StylePresets style={style} onStyle={setStyle} url={shortUrl} />
      <ErrorText>{errorAt(errors, 'style')}</ErrorText>
    </div>
  );
}

function DomainChoice({ form: { domains, domain, setDomain, errors } }: { form: CreateForm }) {
  const id = useId();
  if (domains.length === 0 && domain === '') return null;
  return (
    <div class="stack gap-xs field">
      <label for={id}>Domain</label>
      <DomainSelect
        id={id}
        none={displayUrl(bootstrap.short_base_url)}
        domains={domains}
        value={domain}
        onValue={setDomain}
      />
      {errors['domain'] !== undefined && (
        <p class="error" role="alert">
          {errors['domain']}
        </p>
      )}
    </div>
  );
}

function ShortCodeHint({ form: { customCode, availability } }: { form: CreateForm }) {
  if (customCode === '') return <span>Leave empty to use the suggestion, or choose your own.</span>;
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

function PreviewAndActions({ form, isDisabled }: { form: CreateForm; isDisabled: boolean }) {
  const { shortCode, shortUrl, style, busy, create } = form;
  return (
    <div class="stack side">
      <Preview
        text={shortUrl}
        caption={displayUrl(shortUrl)}
        alt={`QR code for ${shortUrl}`}
        style={style}
        subject={{ short_code: shortCode }}
      />
      <p class="hint">You cannot change the short link or the style later.</p>
      <div class="row actions">
        <button type="button" class="button" disabled={isDisabled} onClick={() => create('draft')}>
          Save as draft
        </button>
        <button type="submit" class="button primary" disabled={isDisabled}>
          {busy ? 'Creating…' : 'Create code'}
        </button>
      </div>
    </div>
  );
}
