import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { displayUrl } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Field } from '../parts/field.tsx';
import { Heading } from '../parts/heading.tsx';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import { navigate, pageUrl } from '../router.ts';
import type { CreatedQrCode } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { withScheme } from './destination.ts';
import { DestinationField, validateFields } from './destination-field.tsx';
import { Preview } from './preview.tsx';
import { suggestShortCode, useAvailability } from './short-code.ts';
import { type Style, withoutDefaults } from './style.ts';
import { StyleEditor } from './style-editor.tsx';

const fields = ['name', 'destination_url', 'short_code'] as const;

export function CreatePage() {
  const [name, setName] = useState('');
  const [destination, setDestination] = useState('');
  const [customCode, setCustomCode] = useState('');
  const [suggestedCode] = useState(suggestShortCode);
  const [style, setStyle] = useState<Style>({});
  const { busy, errors, setErrors, run } = useAction(fields);
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
      const code = await api.post<CreatedQrCode>('/qrcodes', {
        ...{ name, destination_url: withScheme(destination), short_code: shortCode, status },
        style: withoutDefaults(style),
      });
      toast(status === 'draft' ? 'Draft saved.' : 'Code created.');
      navigate(pageUrl(`/codes/${code.id}`));
    });

  return (
    <>
      <Heading title="Create code" />
      <form
        class="create"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          create('active');
        }}
      >
        <div class="card">
          <Field
            label="Name"
            value={name}
            onValue={setName}
            error={errors['name']}
            placeholder="Spring menu"
            hint="Visitors do not see the name."
          />
          <DestinationField
            value={destination}
            onValue={setDestination}
            error={errors['destination_url']}
            placeholder="https://example.com/menu"
            hint="You can change it at any time, even after printing."
          />
          <Field
            label="Short link"
            prefix={`${displayUrl(bootstrap.short_base_url)}/`}
            value={customCode}
            onValue={(value) => setCustomCode(value.trim())}
            error={errors['short_code']}
            placeholder={suggestedCode}
            isCode
            maxLength={50}
            hint={<ShortCodeHint isCustom={customCode !== ''} availability={availability} />}
          />
          <h2>Style</h2>
          <StyleEditor style={style} onStyle={setStyle} />
        </div>
        <div class="side">
          <Preview url={`${bootstrap.short_base_url}/${shortCode}`} style={style} />
          <p class="hint">You cannot change the short link or the style later.</p>
          <div class="actions">
            <button type="button" class="button" disabled={busy} onClick={() => create('draft')}>
              Save as draft
            </button>
            <button type="submit" class="button primary" disabled={busy}>
              {busy ? 'Creating…' : 'Create code'}
            </button>
          </div>
        </div>
      </form>
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
