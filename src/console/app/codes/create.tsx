import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { bare } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Field } from '../parts/field.tsx';
import { Heading } from '../parts/heading.tsx';
import { toast } from '../parts/toast.tsx';
import { type Faults, useAction } from '../parts/use-action.ts';
import { navigate, pageUrl } from '../router.ts';
import type { CreatedQrCode } from '../types.ts';
import { welcome } from '../welcome.ts';
import { completed } from './destination.ts';
import { DestinationField, faultsOf } from './destination-field.tsx';
import { Preview } from './preview.tsx';
import { suggestShortCode, useAvailability } from './short-code.ts';
import { type Style, withoutDefaults } from './style.ts';
import { StyleEditor } from './style-editor.tsx';

const fields = ['name', 'destination_url', 'short_code'] as const;

export function CreatePage() {
  const [name, setName] = useState('');
  const [destination, setDestination] = useState('');
  const [chosen, setChosen] = useState('');
  const [suggested] = useState(suggestShortCode);
  const [style, setStyle] = useState<Style>({});
  const { busy, faults, setFaults, run } = useAction(fields);
  const shortCode = chosen === '' ? suggested : chosen;
  const availability = useAvailability(shortCode);

  const check = (): Faults => ({
    ...faultsOf(name, destination),
    ...(availability.state === 'wrong' ? { short_code: `The short link ${availability.fault}.` } : {}),
  });
  const create = (status: 'active' | 'draft') =>
    run(async () => {
      const found = check();
      if (Object.keys(found).length > 0) {
        setFaults(found);
        return;
      }
      const code = await api.post<CreatedQrCode>('/qrcodes', {
        ...{ name, destination_url: completed(destination), short_code: shortCode, status },
        style: withoutDefaults(style),
      });
      toast(status === 'draft' ? 'Saved as a draft.' : 'Your code is live. Download it, print it, stick it on.');
      navigate(pageUrl(`/codes/${code.id}`));
    });

  return (
    <>
      <Heading title="New code" />
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
            fault={faults['name']}
            placeholder="Spring menu"
            hint="For you; whoever scans does not see it."
          />
          <DestinationField
            value={destination}
            onValue={setDestination}
            fault={faults['destination_url']}
            placeholder="https://example.com/menu"
            hint="You can change it at any time, also when the code is printed."
          />
          <Field
            label="Short link"
            prefix={`${bare(welcome.short_base_url)}/`}
            value={chosen}
            onValue={(value) => setChosen(value.trim())}
            fault={faults['short_code']}
            placeholder={suggested}
            isCode
            maxLength={50}
            hint={<ShortCodeHint isChosen={chosen !== ''} availability={availability} />}
          />
          <h2>Style</h2>
          <StyleEditor style={style} onStyle={setStyle} />
        </div>
        <div class="side">
          <Preview url={`${welcome.short_base_url}/${shortCode}`} style={style} />
          <p class="hint">The style and the short link stay as they are once the code is made: it may be printed.</p>
          <div class="actions">
            <button type="button" class="button" disabled={busy} onClick={() => create('draft')}>
              Save as draft
            </button>
            <button type="submit" class="button primary" disabled={busy}>
              {busy ? 'Creating …' : 'Create code'}
            </button>
          </div>
        </div>
      </form>
    </>
  );
}

function ShortCodeHint({
  isChosen,
  availability,
}: {
  isChosen: boolean;
  availability: ReturnType<typeof useAvailability>;
}) {
  if (!isChosen) return <span>Leave it as it is, or choose words that people can type.</span>;
  if (availability.state === 'checking') return <span role="status">Looking whether it is free …</span>;
  if (availability.state === 'free')
    return (
      <span role="status" class="good">
        <Icon name="check" /> Free
      </span>
    );
  return (
    <span role="status" class="bad">
      It {availability.fault}.
    </span>
  );
}
