import { useEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import type { Webhook, WebhookTest } from '../types.ts';
import { AttemptLine, Deliveries } from './deliveries.tsx';

/** Where every scan of this mode is told, and how that went. */
export function WebhookSettings({ plan }: { plan: string }) {
  const webhook = useResource<Webhook | null>(plan === 'free' ? undefined : '/account/webhook', { everyMs: 10_000 });
  if (plan === 'free')
    return (
      <Empty title="Webhooks come with the paid plans">
        <p>With one, your own program hears of every scan the moment it happens.</p>
      </Empty>
    );
  if (webhook.data === undefined)
    return webhook.error === undefined ? <Skeleton /> : <Failure error={webhook.error} retry={webhook.reload} />;
  const current = webhook.data ?? undefined;
  return (
    <>
      <section class="card" aria-label="Where to send">
        <UrlForm webhook={current} onChange={webhook.reload} />
        {current !== undefined && <Secret webhook={current} onChange={webhook.reload} />}
      </section>
      {current === undefined ? (
        <Empty title="No webhook yet">
          <p>Set one above, and each scan is sent there as JSON, signed, within a second or two.</p>
        </Empty>
      ) : (
        <Deliveries />
      )}
    </>
  );
}

const reasons = {
  gone: 'Your server answered 410, which means “never again”.',
  failing: 'Nothing but failures came back for five days.',
} as const;

function UrlForm({ webhook, onChange }: { webhook: Webhook | undefined; onChange(): Promise<void> }) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [isRemoving, setIsRemoving] = useState(false);
  const { busy, faults, run } = useAction(['url']);
  useEffect(() => setUrl(webhook?.url ?? ''), [webhook?.url]);
  const save = () =>
    run(async () => {
      await api.put('/account/webhook', { url: url.trim() });
      await onChange();
      toast('Saved. The next scan is sent there.');
    });
  const remove = () =>
    run(async () => {
      await api.delete('/account/webhook');
      await onChange();
      toast('The webhook is removed.');
      setIsRemoving(false);
    });
  const isOff = webhook?.status === 'disabled';
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {isOff && (
        <p class="verdict bad" role="alert">
          <Icon name="warning" />
          Switched off. {webhook.disabled_reason === null ? '' : reasons[webhook.disabled_reason]} Save to switch it on
          again.
        </p>
      )}
      <Field
        label="Webhook URL"
        inputMode="url"
        isCode
        value={url}
        onValue={setUrl}
        fault={faults['url']}
        placeholder="https://example.com/hooks/scanlog"
        hint="Gets a POST for every scan, with the header webhook-signature as Standard Webhooks has it."
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
          disabled={busy || url.trim() === '' || (url === webhook?.url && !isOff)}
        >
          {webhook === undefined ? 'Set webhook' : 'Save'}
        </button>
      </div>
      {isRemoving && (
        <Dialog title="Remove the webhook?" onClose={() => setIsRemoving(false)}>
          <p>Nothing is sent any more, and its secret is gone. What waits to be sent is not sent.</p>
          <div class="actions">
            <button type="button" class="button" onClick={() => setIsRemoving(false)}>
              Cancel
            </button>
            <button type="button" class="button danger solid" disabled={busy} onClick={remove}>
              Remove webhook
            </button>
          </div>
        </Dialog>
      )}
    </form>
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
  const [tried, setTried] = useState<WebhookTest>();
  const { busy, run } = useAction();
  const rotate = () =>
    run(async () => {
      await api.post('/account/webhook/rotate');
      await onChange();
      setIsRotating(false);
      setIsShown(true);
      toast('The new secret signs from now on; the old one too, for 24 hours.');
    });
  const tryOut = () => run(async () => setTried(await api.post<WebhookTest>('/account/webhook/test')));
  return (
    <div class="secret-row">
      <span class="label">Signing secret</span>
      <code class="secret">{isShown ? secret : `${secret.slice(0, 6)}${'•'.repeat(24)}`}</code>
      <div class="actions">
        <button type="button" class="button" aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
          {isShown ? 'Hide' : 'Reveal'}
        </button>
        <Copy text={secret} label="Copy the signing secret">
          Copy
        </Copy>
        <button type="button" class="button" onClick={() => setIsRotating(true)}>
          <Icon name="refresh" />
          Rotate
        </button>
        <button type="button" class="button" disabled={busy} onClick={tryOut}>
          <Icon name="send" />
          Send an example
        </button>
      </div>
      {old_secret_valid_until !== null && (
        <p class="hint">The secret before this one signs too, until {time(old_secret_valid_until)}.</p>
      )}
      {tried !== undefined && (
        <div class="tried" role="status">
          <AttemptLine attempt={tried} />
        </div>
      )}
      {isRotating && (
        <Dialog title="Make a new secret?" onClose={() => setIsRotating(false)}>
          <p>For 24 hours the old one signs as well, so that you can change your program without losing a scan.</p>
          <div class="actions">
            <button type="button" class="button" onClick={() => setIsRotating(false)}>
              Cancel
            </button>
            <button type="button" class="button primary" disabled={busy} onClick={rotate}>
              Make a new one
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
