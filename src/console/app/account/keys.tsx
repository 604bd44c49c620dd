import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { problemWithName } from '../../../../events/fields.ts';
import { api } from '../api.ts';
import { date, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { currentMode, type Mode } from '../router.ts';
import type { ApiKey, CreatedApiKey } from '../types.ts';
import { bootstrap, keyOf } from '../welcome.ts';
import { UndoDialog } from './undo-key.tsx';

export function Keys() {
  const keys = useResource<{ data: ApiKey[] }>('/account/keys', { query: { include: 'revoked' } });
  const [open, setOpen] = useState<'create' | { do: 'revoke' | 'undo'; key: ApiKey }>();
  if (keys.data === undefined) return <Loading error={keys.error} retry={keys.reload} />;
  const [revoked, inUse] = [true, false].map((isRevoked) =>
    (keys.data?.data ?? []).filter(({ revoked_at }) => (revoked_at !== undefined) === isRevoked),
  ) as [ApiKey[], ApiKey[]];
  const canUndo = ({ mode }: ApiKey) => mode === currentMode();
  const undoButton = (key: ApiKey) =>
    canUndo(key) && (
      <button
        type="button"
        class="button"
        aria-label={`Undo changes by ${key.name}`}
        onClick={() => setOpen({ do: 'undo', key })}
      >
        Undo changes
      </button>
    );
  const sessionKeyIds = new Set(bootstrap.keys.map(({ id }) => id));
  return (
    <section aria-label="API keys">
      <div class="row gap-m toolbar">
        <p class="hint">
          {currentMode() === 'live'
            ? 'A live key gives full access to this account. Create a separate key for each application.'
            : `In test mode, you can manage test keys only. To manage live keys, ${
                keyOf('live') === undefined ? 'sign in with a live key' : 'switch to live mode'
              }.`}
        </p>
        <span class="spacer" />
        <button type="button" class="button primary" onClick={() => setOpen('create')}>
          <Icon name="plus" />
          Create key
        </button>
      </div>
      <ul class="card lines">
        {inUse.map((key) => (
          <KeyItem
            key={key.id}
            apiKey={key}
            actions={
              <>
                {sessionKeyIds.has(key.id) && <span class="hint">Used for this session</span>}
                {undoButton(key)}
                {!sessionKeyIds.has(key.id) && (
                  <button
                    type="button"
                    class="button danger"
                    aria-label={`Revoke ${key.name}`}
                    onClick={() => setOpen({ do: 'revoke', key })}
                  >
                    Revoke
                  </button>
                )}
              </>
            }
          >
            created {date(key.created_at)} ·{' '}
            {key.last_used_at === null ? (
              'never used'
            ) : (
              <time dateTime={key.last_used_at} title={time(key.last_used_at)}>
                last used {relativeTime(key.last_used_at)}
              </time>
            )}
          </KeyItem>
        ))}
      </ul>
      {revoked.length > 0 && (
        <details class="card revoked-keys">
          <summary>Revoked keys ({revoked.length})</summary>
          <ul class="lines">
            {revoked.map((key) => (
              <KeyItem key={key.id} apiKey={key} actions={undoButton(key)}>
                revoked{' '}
                <time dateTime={key.revoked_at} title={time(key.revoked_at ?? '')}>
                  {relativeTime(key.revoked_at ?? '')}
                </time>
              </KeyItem>
            ))}
          </ul>
        </details>
      )}
      {open === 'create' && <CreateKeyDialog onCreated={keys.reload} onClose={() => setOpen(undefined)} />}
      {typeof open === 'object' && open.do === 'revoke' && (
        <RevokeDialog apiKey={open.key} onDone={keys.reload} onClose={() => setOpen(undefined)} />
      )}
      {typeof open === 'object' && open.do === 'undo' && (
        <UndoDialog apiKey={open.key} onClose={() => setOpen(undefined)} />
      )}
    </section>
  );
}

interface ItemProps {
  apiKey: ApiKey;
  actions: ComponentChildren;
  /** What happened to the key. */
  children: ComponentChildren;
}

const KeyItem = ({ apiKey, actions, children }: ItemProps) => (
  <li class="row between gap-l">
    <div>
      <strong>{apiKey.name}</strong>{' '}
      <span class={`badge ${apiKey.mode}`}>{apiKey.mode === 'live' ? 'Live' : 'Test'}</span>
      <p class="hint">
        <KeyHint apiKey={apiKey} /> · {children}
      </p>
    </div>
    <span class="row actions">{actions}</span>
  </li>
);

const KeyHint = ({ apiKey }: { apiKey: ApiKey }) => (
  <code>
    {apiKey.prefix}…{apiKey.last4}
  </code>
);

const modes = [
  ['live', 'Live'],
  ['test', 'Test'],
] as const;

function CreateKeyDialog({ onCreated, onClose }: { onCreated(): Promise<void>; onClose(): void }) {
  const [name, setName] = useState('');
  const [mode, setMode] = useState<Mode>(currentMode());
  const [created, setCreated] = useState<CreatedApiKey>();
  const { busy, errors, setErrors, recheck, run } = useAction(['name']);
  const create = () =>
    run(async () => {
      const nameError = problemWithName(name);
      if (nameError !== undefined) {
        setErrors({ name: `The name ${nameError}.` });
        return;
      }
      setCreated(await api.post<CreatedApiKey>('/account/keys', { name, mode }));
      await onCreated();
    });
  if (created !== undefined)
    return (
      <Dialog title="API key created" staysOpen>
        <p>Copy this key now. You cannot see it again after you close this dialog.</p>
        <code class="block">{created.key}</code>
        <div class="row actions">
          <Copy text={created.key} label="Copy API key">
            Copy
          </Copy>
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Create API key" onClose={onClose}>
      <Form onSubmit={create}>
        <Field
          label="Name"
          value={name}
          onValue={(value) => {
            setName(value);
            if (problemWithName(value) === undefined) recheck('name', undefined);
          }}
          error={errors['name']}
          placeholder="Website"
          hint="Where you use this key, so you can tell your keys apart."
        />
        {currentMode() === 'live' ? (
          <Segments label="Mode" options={modes} value={mode} onValue={(next) => setMode(next)} />
        ) : (
          <p class="hint">This creates a test key. Only a live key can create a live key.</p>
        )}
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            Create key
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function RevokeDialog({ apiKey, onDone, onClose }: { apiKey: ApiKey; onDone(): Promise<void>; onClose(): void }) {
  const revoke = async () => {
    await api.delete(`/account/keys/${apiKey.id}`);
    await onDone();
    toast(`${apiKey.name} revoked.`);
    onClose();
  };
  return (
    <ConfirmDialog title={`Revoke ${apiKey.name}?`} label="Revoke key" isDangerous onConfirm={revoke} onClose={onClose}>
      <p>
        Applications that use <KeyHint apiKey={apiKey} /> lose access immediately, and console sessions signed in with
        it end. This cannot be undone. If someone misused the key, choose <em>Undo changes</em> at <em>Revoked keys</em>{' '}
        afterwards.
      </p>
    </ConfirmDialog>
  );
}
