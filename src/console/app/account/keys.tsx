import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date, dueTime, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { Allowed, accessText, may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { currentMode } from '../router.ts';
import type { ApiKey } from '../types.ts';
import { bootstrap, hasMode } from '../welcome.ts';
import { CreateKeyDialog } from './create-key.tsx';
import { McpSetup } from './mcp-setup.tsx';
import { RotateDialog } from './rotate-key.tsx';
import { UndoDialog } from './undo-changes.tsx';

/** Until a key is revoked or has expired, it can be used. */
const isUsable = ({ revoked_at, expires_at }: ApiKey) =>
  revoked_at === undefined && (expires_at === null || Date.parse(expires_at) > Date.now());

type Action = 'rotate' | 'revoke' | 'undo';
const actionLabels: Record<Action, string> = { rotate: 'Rotate', revoke: 'Revoke', undo: 'Undo changes' };

export function Keys() {
  const keys = useResource<{ data: ApiKey[] }>('/account/keys', { query: { include: 'revoked' } });
  const [open, setOpen] = useState<'create' | { do: Action; key: ApiKey }>();
  if (keys.data === undefined) return <Loading error={keys.error} retry={keys.reload} />;
  const { data } = keys.data;
  const [usable, ended] = [data.filter(isUsable), data.filter((key) => !isUsable(key))];
  const isOwn = ({ id }: ApiKey) => bootstrap.keys.some((key) => key.id === id);
  const button = (action: Action, key: ApiKey) => (
    <button
      type="button"
      class={action === 'revoke' ? 'button danger' : 'button'}
      aria-label={`${actionLabels[action]}${action === 'undo' ? ' by' : ''} ${key.name}`}
      onClick={() => setOpen({ do: action, key })}
    >
      {actionLabels[action]}
    </button>
  );
  const undoButton = (key: ApiKey) => may('account.write') && key.mode === currentMode() && button('undo', key);
  const close = () => setOpen(undefined);
  return (
    <section aria-label="API keys">
      <div class="row gap-m toolbar">
        <p class="hint">
          {currentMode() === 'live'
            ? 'Create a separate key for each application, with no more access than it needs.'
            : `In test mode, you can manage test keys only. To manage live keys, ${
                hasMode('live') ? 'switch to live mode' : 'sign in with a live key'
              }.`}
        </p>
        <span class="spacer" />
        <Allowed scope="account.write">
          <button type="button" class="button primary" onClick={() => setOpen('create')}>
            <Icon name="plus" />
            Create key
          </button>
        </Allowed>
      </div>
      <ul class="card lines">
        {usable.map((key) => (
          <KeyItem
            key={key.id}
            apiKey={key}
            actions={
              <>
                {isOwn(key) && <span class="hint">Used for this session</span>}
                {undoButton(key)}
                <Allowed scope="account.write">
                  {key.replaced_by === undefined && button('rotate', key)}
                  {!isOwn(key) && button('revoke', key)}
                </Allowed>
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
      {ended.length > 0 && (
        <details class="card key-details">
          <summary>
            {ended.every(({ revoked_at }) => revoked_at !== undefined) ? 'Revoked keys' : 'Revoked and expired keys'} (
            {ended.length})
          </summary>
          <ul class="lines">
            {ended.map((key) => (
              <KeyItem key={key.id} apiKey={key} actions={undoButton(key)}>
                {key.revoked_at === undefined ? 'expired' : 'revoked'}{' '}
                <PastTime iso={key.revoked_at ?? key.expires_at ?? ''} />
              </KeyItem>
            ))}
          </ul>
        </details>
      )}
      <McpSetup />
      {open === 'create' && <CreateKeyDialog onCreated={keys.reload} onClose={close} />}
      {typeof open === 'object' && open.do === 'rotate' && (
        <RotateDialog apiKey={open.key} isOwn={isOwn(open.key)} onDone={keys.reload} onClose={close} />
      )}
      {typeof open === 'object' && open.do === 'revoke' && (
        <RevokeDialog apiKey={open.key} onDone={keys.reload} onClose={close} />
      )}
      {typeof open === 'object' && open.do === 'undo' && (
        <UndoDialog
          actor={open.key}
          isPerson={false}
          advice={open.key.revoked_at === undefined ? 'If the key is in wrong hands, revoke it first.' : undefined}
          onClose={close}
        />
      )}
    </section>
  );
}

const PastTime = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={time(iso)}>
    {relativeTime(iso)}
  </time>
);

interface ItemProps {
  apiKey: ApiKey;
  actions: ComponentChildren;
  /** What happened to the key. */
  children: ComponentChildren;
}

const KeyItem = ({ apiKey, actions, children }: ItemProps) => (
  <li class="row between gap-l">
    <div>
      <strong dir="auto">{apiKey.name}</strong>{' '}
      <span class={`badge ${apiKey.mode}`}>{apiKey.mode === 'live' ? 'Live' : 'Test'}</span>{' '}
      {isUsable(apiKey) && apiKey.unused && <span class="badge paused">Unused for 90 days</span>}
      <p class="hint">
        <KeyHint apiKey={apiKey} /> · {children}
      </p>
      <p class="hint">
        <Limits apiKey={apiKey} />
      </p>
    </div>
    <span class="row actions">{actions}</span>
  </li>
);

/** What the key may do, until when, and from where. */
const Limits = ({ apiKey }: { apiKey: ApiKey }) => (
  <>
    {apiKey.scopes === null ? 'Full access' : `Can ${accessText(apiKey.scopes)}`}
    {apiKey.expires_at !== null && isUsable(apiKey) && (
      <>
        {' '}
        ·{' '}
        <time dateTime={apiKey.expires_at} title={time(apiKey.expires_at)}>
          {apiKey.replaced_by === undefined ? 'expires' : 'rotated, old secret ends'} {dueTime(apiKey.expires_at)}
        </time>
      </>
    )}
    {apiKey.allowed_cidrs !== null && ` · only from ${apiKey.allowed_cidrs.join(', ')}`}
  </>
);

const KeyHint = ({ apiKey }: { apiKey: ApiKey }) => (
  <code>
    {apiKey.prefix}…{apiKey.last4}
  </code>
);

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
