import { useEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { completeUrl } from '../codes/destination.ts';
import { time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import type { Webhook, WebhookTest } from '../types.ts';
import { AttemptLine, Deliveries } from './deliveries.tsx';

/** The webhook of the current mode and its deliveries. */
export function WebhookSettings({ plan }: { plan: string }) {
  const webhook = useResource<Webhook | null>(plan === 'free' ? undefined : '/account/webhook', {
    refreshIntervalMs: 10_000,
  });
  if (plan === 'free')
    return (
      <Empty title="Webhooks require a paid plan">
        <p>A webhook sends every scan to your server as it happens.</p>
      </Empty>
    );
  if (webhook.data === undefined)
    return webhook.error === undefined ? <Skeleton /> : <Failure error={webhook.error} retry={webhook.reload} />;
  const current = webhook.data ?? undefined;
  return (
    <>
      <section class="card" aria-label="Webhook settings">
        <UrlForm webhook={current} onChange={webhook.reload} />
        {current !== undefined && <Secret webhook={current} onChange={webhook.reload} />}
      </section>
      {current === undefined ? (
        <Empty title="No webhook yet">
          <p>Add a URL to receive every scan as a signed JSON request within seconds.</p>
        </Empty>
      ) : (
        <Deliveries />
      )}
    </>
  );
}

const disabledReasons = {
  gone: 'Your server responded with 410 Gone.',
  failing: 'All deliveries failed for five days.',
} as const;

function UrlForm({ webhook, onChange }: { webhook: Webhook | undefined; onChange(): Promise<void> }) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [isRemoving, setIsRemoving] = useState(false);
  const { busy, errors, run } = useAction(['url']);
  useEffect(() => setUrl(webhook?.url ?? ''), [webhook?.url]);
  const save = () =>
    run(async () => {
      const { url: saved } = await api.put<Webhook>('/account/webhook', { url: completeUrl(url).url });
      setUrl(saved);
      await onChange();
      toast('Webhook saved.');
    });
  const isDisabled = webhook?.status === 'disabled';
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {isDisabled && (
        <p class="verdict bad" role="alert">
          <Icon name="warning" />
          Webhook disabled. {webhook.disabled_reason === null ? '' : disabledReasons[webhook.disabled_reason]} Save to
          enable it again.
        </p>
      )}
      <Field
        label="Webhook URL"
        inputMode="url"
        isCode
        value={url}
        onValue={setUrl}
        error={errors['url']?.replace(/^url /, 'The webhook URL ')}
        placeholder="https://example.com/hooks/scanlog"
        hint="Receives a POST request for every scan, signed as the Standard Webhooks specification defines."
      />
      <div class="actions">
        {webhook !== undefined && (
          <button type="button" class="button danger" onClick={() => setIsRemoving(true)}>
            Remove
          </button>
        )}
        <button
          type="submit"
          class="button primary"
          disabled={busy || url.trim() === '' || (url === webhook?.url && !isDisabled)}
        >
          {webhook === undefined ? 'Add webhook' : 'Save'}
        </button>
      </div>
      {isRemoving && <RemoveDialog onChange={onChange} onClose={() => setIsRemoving(false)} />}
    </form>
  );
}

interface DialogProps {
  onChange(): Promise<void>;
  onClose(): void;
}

function RemoveDialog({ onChange, onClose }: DialogProps) {
  const { busy, run } = useAction();
  const remove = () =>
    run(async () => {
      await api.delete('/account/webhook');
      await onChange();
      toast('Webhook removed.');
      onClose();
    });
  return (
    <Dialog title="Remove webhook?" onClose={onClose}>
      <p>Scans are no longer sent. Pending deliveries are canceled and the signing secret is deleted.</p>
      <DialogActions onCancel={onClose}>
        <button type="button" class="button danger solid" disabled={busy} onClick={remove}>
          Remove webhook
        </button>
      </DialogActions>
    </Dialog>
  );
}

function Secret({
  webhook: { secret, old_secret_valid_until },
  onChange,
}: {
  webhook: Webhook;
  onChange(): Promise<void>;
}) {
  const [isShown, setIsShown] = useState(false);
  const [isRotating, setIsRotating] = useState(false);
  const [testResult, setTestResult] = useState<WebhookTest>();
  const { busy, run } = useAction();
  const sendTest = () => run(async () => setTestResult(await api.post<WebhookTest>('/account/webhook/test')));
  return (
    <div class="secret-row">
      <span class="label">Signing secret</span>
      <code class="secret">{isShown ? secret : `${secret.slice(0, 6)}${'•'.repeat(24)}`}</code>
      <div class="actions">
        <button type="button" class="button" aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
          {isShown ? 'Hide' : 'Reveal'}
        </button>
        <Copy text={secret} label="Copy signing secret">
          Copy
        </Copy>
        <button type="button" class="button" onClick={() => setIsRotating(true)}>
          <Icon name="refresh" />
          Rotate
        </button>
        <button type="button" class="button" disabled={busy} onClick={sendTest}>
          <Icon name="send" />
          Send test event
        </button>
      </div>
      {old_secret_valid_until !== null && (
        <p class="hint">Deliveries are also signed with the previous secret until {time(old_secret_valid_until)}.</p>
      )}
      {testResult !== undefined && (
        <div class="test-result" role="status">
          <AttemptLine attempt={testResult} />
        </div>
      )}
      {isRotating && (
        <RotateDialog
          onChange={async () => {
            await onChange();
            setIsShown(true);
          }}
          onClose={() => setIsRotating(false)}
        />
      )}
    </div>
  );
}

function RotateDialog({ onChange, onClose }: DialogProps) {
  const { busy, run } = useAction();
  const rotate = () =>
    run(async () => {
      await api.post('/account/webhook/rotate');
      await onChange();
      toast('Secret rotated. The previous secret stays valid for 24 hours.');
      onClose();
    });
  return (
    <Dialog title="Rotate signing secret?" onClose={onClose}>
      <p>Deliveries are signed with both secrets for 24 hours, so you have time to update your server.</p>
      <DialogActions onCancel={onClose}>
        <button type="button" class="button primary" disabled={busy} onClick={rotate}>
          Rotate secret
        </button>
      </DialogActions>
    </Dialog>
  );
}
