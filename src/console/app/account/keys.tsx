import { useState } from 'preact/hooks';
import { faultOfName } from '../../../../events/fields.ts';
import { api } from '../api.ts';
import { ago, date, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Segments } from '../parts/segments.tsx';
import { Failure, Skeleton } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { currentMode, type Mode } from '../router.ts';
import type { ApiKey, CreatedApiKey } from '../types.ts';
import { keyOf, welcome } from '../welcome.ts';

export function Keys() {
  const keys = useResource<{ data: ApiKey[] }>('/account/keys');
  const [open, setOpen] = useState<'new' | ApiKey>();
  if (keys.data === undefined)
    return keys.error === undefined ? <Skeleton /> : <Failure error={keys.error} retry={keys.reload} />;
  const mine = new Set(welcome.keys.map(({ id }) => id));
  return (
    <section aria-label="API keys">
      <div class="toolbar">
        <p class="hint">
          {currentMode() === 'live'
            ? 'A live key gives full access to this account. Give each program its own.'
            : `In test mode you manage test keys only. To see, create or revoke live keys, ${
                keyOf('live') === undefined ? 'sign in with a live key' : 'switch to live mode'
              }.`}
        </p>
        <span class="spacer" />
        <button type="button" class="button primary" onClick={() => setOpen('new')}>
          <Icon name="plus" />
          New key
        </button>
      </div>
      <ul class="keys card">
        {keys.data.data.map((key) => (
          <li key={key.id}>
            <div>
              <strong>{key.name}</strong>{' '}
              <span class={`badge ${key.mode}`}>{key.mode === 'live' ? 'Live' : 'Test'}</span>
              <p class="hint">
                <code>
                  {key.prefix}…{key.last4}
                </code>{' '}
                · made {date(key.created_at)} ·{' '}
                {key.last_used_at === null ? (
                  'never used'
                ) : (
                  <time dateTime={key.last_used_at} title={time(key.last_used_at)}>
                    used {ago(key.last_used_at)}
                  </time>
                )}
              </p>
            </div>
            {mine.has(key.id) ? (
              <span class="hint">You are signed in with it</span>
            ) : (
              <button
                type="button"
                class="button danger"
                aria-label={`Revoke ${key.name}`}
                onClick={() => setOpen(key)}
              >
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
      {open === 'new' && <NewKeyDialog onMade={keys.reload} onClose={() => setOpen(undefined)} />}
      {typeof open === 'object' && (
        <RevokeDialog apiKey={open} onDone={keys.reload} onClose={() => setOpen(undefined)} />
      )}
    </section>
  );
}

const modes = [
  ['live', 'Live'],
  ['test', 'Test'],
] as const;

function NewKeyDialog({ onMade, onClose }: { onMade(): Promise<void>; onClose(): void }) {
  const [name, setName] = useState('');
  const [mode, setMode] = useState<Mode>(currentMode());
  const [made, setMade] = useState<CreatedApiKey>();
  const { busy, faults, setFaults, run } = useAction(['name']);
  const create = () =>
    run(async () => {
      const fault = faultOfName(name);
      if (fault !== undefined) {
        setFaults({ name: `The name ${fault}.` });
        return;
      }
      setMade(await api.post<CreatedApiKey>('/account/keys', { name, mode }));
      await onMade();
    });
  if (made !== undefined)
    return (
      <Dialog title="Your new key" onClose={onClose}>
        <p>Copy it now: it is shown only this once, and only its fingerprint is kept.</p>
        <code class="secret">{made.key}</code>
        <div class="actions">
          <Copy text={made.key} label="Copy the key">
            Copy
          </Copy>
          <button type="button" class="button primary" onClick={onClose}>
            I have kept it
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <Field
          label="Name"
          value={name}
          onValue={setName}
          fault={faults['name']}
          placeholder="Website"
          hint="What it is for, so that you know later which to revoke."
        />
        {currentMode() === 'live' ? (
          <Segments label="Mode" options={modes} value={mode} onValue={(next) => setMode(next)} />
        ) : (
          <p class="hint">This will be a test key. Only a live key can create a live key.</p>
        )}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy}>
            Create key
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function RevokeDialog({ apiKey, onDone, onClose }: { apiKey: ApiKey; onDone(): Promise<void>; onClose(): void }) {
  const { busy, run } = useAction();
  const revoke = () =>
    run(async () => {
      await api.delete(`/account/keys/${apiKey.id}`);
      await onDone();
      toast(`${apiKey.name} is revoked.`);
      onClose();
    });
  return (
    <Dialog title={`Revoke ${apiKey.name}?`} onClose={onClose}>
      <p>
        Whatever uses{' '}
        <code>
          {apiKey.prefix}…{apiKey.last4}
        </code>{' '}
        stops working at once, and everybody signed in with it is signed out. This cannot be undone.
      </p>
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger solid" disabled={busy} onClick={revoke}>
          Revoke key
        </button>
      </div>
    </Dialog>
  );
}
