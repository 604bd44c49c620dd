import { Icon } from '../icons.tsx';
import { Loading } from '../parts/states.tsx';
import type { Resource } from '../resource.ts';
import { pageUrl } from '../router.ts';
import type { ListedWebhooks, Subscription } from '../types.ts';
import { filterSummary } from './webhook-events.ts';

const maxWebhooks = 10;
const statusLabels = { enabled: 'Active', paused: 'Paused', disabled: 'Disabled' } as const;
const statusClasses = { enabled: 'active', paused: 'paused', disabled: 'failed' } as const;

export const WebhookStatus = ({ status }: Pick<Subscription, 'status'>) => (
  <span class={`badge ${statusClasses[status]}`}>{statusLabels[status]}</span>
);

/** The webhooks with filters of their own, without the webhook of the account. */
export function WebhookList({ webhooks: { data, error, reload } }: { webhooks: Resource<ListedWebhooks> }) {
  const listed = data?.data.filter(({ account_webhook }) => !account_webhook) ?? [];
  return (
    <section aria-label="Webhooks for events">
      <div class="row gap-m toolbar">
        <h2>Webhooks for events</h2>
        <span class="spacer" />
        {listed.length < maxWebhooks && (
          <a class="button" href={pageUrl('/account/webhook/new')}>
            <Icon name="plus" />
            New webhook
          </a>
        )}
      </div>
      {data === undefined ? (
        <Loading error={error} retry={reload} />
      ) : listed.length === 0 ? (
        <p class="hint">
          Send scans and changes of codes to your server, filtered by type, code and tag. Up to {maxWebhooks} webhooks.
        </p>
      ) : (
        <ul class="card lines">
          {listed.map((webhook) => (
            <li key={webhook.id} class="row between gap-l">
              <div class="wrapped">
                <a href={pageUrl(`/account/webhook/${webhook.id}`)}>{webhook.description || webhook.url}</a>
                {webhook.description !== '' && <div class="hint">{webhook.url}</div>}
                <div class="hint">{filterSummary(webhook)}</div>
              </div>
              <WebhookStatus status={webhook.status} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
