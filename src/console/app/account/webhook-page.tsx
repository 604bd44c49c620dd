import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { navigate, pageUrl } from '../router.ts';
import type { Subscription } from '../types.ts';
import { Deliveries } from './deliveries.tsx';
import { Replays } from './replays.tsx';
import { Secret } from './secret.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookStatus } from './webhook-list.tsx';

const listPath = '/account/webhook';

const BackLink = () => (
  <a class="back" href={pageUrl(listPath)}>
    <Icon name="back" />
    All webhooks
  </a>
);

export function NewWebhookPage() {
  return (
    <>
      <div class="row gap-m toolbar">
        <BackLink />
      </div>
      <section class="card" aria-label="New webhook">
        <WebhookForm
          submitLabel="Create webhook"
          onSubmit={async (settings) => {
            const { id } = await api.post<Subscription>('/webhooks', settings);
            toast('Webhook created.');
            navigate(pageUrl(`${listPath}/${id}`));
          }}
        />
      </section>
    </>
  );
}

const disabledReasons = {
  gone: 'Your server responded with 410 Gone.',
  failing: 'All deliveries failed for five days.',
} as const;

/** One webhook: its settings, secret, replays and deliveries. */
export function WebhookPage({ id }: { id: string }) {
  const path = `/webhooks/${id}`;
  const { data: webhook, error, reload } = useResource<Subscription>(path, { refreshIntervalMs: 10_000 });
  const [isRemoving, setIsRemoving] = useState(false);
  const { busy, run } = useAction();
  if (webhook === undefined) return <Loading error={error} retry={reload} lines={5} />;
  const setActive = (active: boolean) =>
    run(async () => {
      await api.patch(path, { active });
      await reload();
      toast(active ? 'Webhook resumed.' : 'Webhook paused.');
    });
  return (
    <>
      <div class="row gap-m toolbar">
        <BackLink />
        <WebhookStatus status={webhook.status} />
        <span class="spacer" />
        <button type="button" class="button" disabled={busy} onClick={() => setActive(!webhook.active)}>
          <Icon name={webhook.active ? 'pause' : 'play'} />
          {webhook.status === 'disabled' ? 'Enable' : webhook.active ? 'Pause' : 'Resume'}
        </button>
        <button type="button" class="button danger" onClick={() => setIsRemoving(true)}>
          Remove
        </button>
      </div>
      {webhook.disabled_reason !== null && (
        <p class="row nowrap verdict bad" role="alert">
          <Icon name="warning" />
          Webhook disabled. {disabledReasons[webhook.disabled_reason]} Enable it when your server is ready.
        </p>
      )}
      {webhook.status === 'paused' && (
        <p class="hint">
          Events are not sent while the webhook is paused. Replay the missing ones after you resume it.
        </p>
      )}
      <section class="card" aria-label="Webhook settings">
        <WebhookForm
          key={webhook.updated_at}
          webhook={webhook}
          submitLabel="Save"
          onSubmit={async (settings) => {
            await api.patch(path, settings);
            await reload();
            toast('Webhook saved.');
          }}
        />
        <Secret path={path} webhook={webhook} onChange={reload} />
      </section>
      <Replays webhook={webhook} />
      <Deliveries path={path} />
      {isRemoving && <RemoveDialog path={path} onClose={() => setIsRemoving(false)} />}
    </>
  );
}

function RemoveDialog({ path, onClose }: { path: string; onClose(): void }) {
  const remove = async () => {
    await api.delete(path);
    toast('Webhook removed.');
    navigate(pageUrl(listPath));
  };
  return (
    <ConfirmDialog title="Remove webhook?" label="Remove webhook" isDangerous onConfirm={remove} onClose={onClose}>
      <p>Events are no longer sent. Its deliveries and its signing secret are deleted.</p>
    </ConfirmDialog>
  );
}
