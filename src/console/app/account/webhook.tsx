import { useLayoutEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { completeUrl } from '../codes/destination.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import type { ListedWebhooks, Webhook } from '../types.ts';
import { Deliveries } from './deliveries.tsx';
import { Replays } from './replays.tsx';
import { Secret } from './secret.tsx';
import { WebhookList } from './webhook-list.tsx';

/** All webhooks of the current mode; the webhook of the account with its settings and deliveries. */
export function WebhookSettings({ plan }: { plan: string }) {
  const webhook = useResource<Webhook | null>(plan === 'free' ? undefined : '/account/webhook', {
    refreshIntervalMs: 10_000,
  });
  const all = useResource<ListedWebhooks>(plan === 'free' ? undefined : '/webhooks', { refreshIntervalMs: 10_000 });
  if (plan === 'free')
    return (
      <Empty title="Webhooks require a paid plan">
        <p>A webhook sends scans and changes of codes to your server as they happen.</p>
      </Empty>
    );
  if (webhook.data === undefined) return <Loading error={webhook.error} retry={webhook.reload} />;
  const current = webhook.data ?? undefined;
  const listed = all.data?.data.find(({ account_webhook }) => account_webhook);
  return (
    <>
      <WebhookList webhooks={all} />
      <div class="row gap-m toolbar">
        <h2>Webhook for scans</h2>
      </div>
      <section class="card" aria-label="Webhook settings">
        <UrlForm webhook={current} onChange={webhook.reload} />
        {current !== undefined && <Secret path="/account/webhook" webhook={current} onChange={webhook.reload} />}
      </section>
      {current === undefined ? (
        <Empty title="No webhook yet">
          <p>Add a URL to receive every scan as a signed JSON request within seconds.</p>
        </Empty>
      ) : (
        <>
          {listed !== undefined && <Replays webhook={listed} />}
          <Deliveries path="/account/webhook" />
        </>
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
  useLayoutEffect(() => setUrl(webhook?.url ?? ''), [webhook?.url]);
  const save = () =>
    run(async () => {
      const { url: saved } = await api.put<Webhook>('/account/webhook', { url: completeUrl(url).url });
      setUrl(saved);
      await onChange();
      toast('Webhook saved.');
    });
  const isDisabled = webhook?.status === 'disabled';
  return (
    <Form onSubmit={save}>
      {isDisabled && (
        <p class="row nowrap verdict bad" role="alert">
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
      <div class="row actions">
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
    </Form>
  );
}

interface DialogProps {
  onChange(): Promise<void>;
  onClose(): void;
}

function RemoveDialog({ onChange, onClose }: DialogProps) {
  const remove = async () => {
    await api.delete('/account/webhook');
    await onChange();
    toast('Webhook removed.');
    onClose();
  };
  return (
    <ConfirmDialog title="Remove webhook?" label="Remove webhook" isDangerous onConfirm={remove} onClose={onClose}>
      <p>Scans are no longer sent. Pending deliveries are canceled and the signing secret is deleted.</p>
    </ConfirmDialog>
  );
}
