import { date, number, plural } from '../format.ts';
import { Copy } from '../parts/copy.tsx';
import { Heading } from '../parts/heading.tsx';
import { Failure, Skeleton } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { pageUrl } from '../router.ts';
import type { Account } from '../types.ts';
import { Keys } from './keys.tsx';
import { WebhookSettings } from './webhook.tsx';

const sections = [
  ['plan', '/account', 'Plan and use'],
  ['keys', '/account/keys', 'API keys'],
  ['webhook', '/account/webhook', 'Webhook'],
] as const;
type Section = (typeof sections)[number][0];

export function AccountPage({ section }: { section: Section }) {
  const account = useResource<Account>('/account');
  return (
    <>
      <Heading title="Account" lead={account.data?.name} />
      <nav class="tabs" aria-label="Account">
        {sections.map(([name, path, text]) => (
          <a key={name} href={pageUrl(path)} aria-current={name === section ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
      {account.data === undefined ? (
        account.error === undefined ? (
          <Skeleton lines={5} />
        ) : (
          <Failure error={account.error} retry={account.reload} />
        )
      ) : section === 'plan' ? (
        <PlanAndUse account={account.data} />
      ) : section === 'keys' ? (
        <Keys />
      ) : (
        <WebhookSettings plan={account.data.plan} />
      )}
    </>
  );
}

const words = (plan: string) => plan.replace(/^./, (letter) => letter.toUpperCase());

function PlanAndUse({ account: { id, plan, limits, usage, created_at } }: { account: Account }) {
  const most = limits.qr_codes;
  return (
    <div class="plan">
      <section class="card">
        <h2>{words(plan)} plan</h2>
        <dl>
          <div>
            <dt>Live codes</dt>
            <dd>
              <span class="figure">{number(usage.qr_codes)}</span>{' '}
              {most === null ? 'without a limit' : `of ${number(most)}`}
              {most !== null && (
                <meter min={0} max={most} high={most * 0.9} value={usage.qr_codes} aria-label="Live codes used" />
              )}
            </dd>
          </div>
          <div>
            <dt>Test codes</dt>
            <dd>
              <span class="figure">{number(usage.test_qr_codes)}</span> never counted
            </dd>
          </div>
          <div>
            <dt>API requests</dt>
            <dd>
              <span class="figure">{number(limits.requests_per_minute)}</span> a minute in each mode; this console has
              its own
            </dd>
          </div>
        </dl>
      </section>
      <section class="card">
        <h2>Account</h2>
        <dl>
          <div>
            <dt>Identifier</dt>
            <dd>
              <code>{id}</code>
              <Copy text={id} label="Copy the account’s identifier" />
            </dd>
          </div>
          <div>
            <dt>Since</dt>
            <dd>{date(created_at)}</dd>
          </div>
        </dl>
        <p class="hint">
          Whoever runs this service can change the plan:
          <code class="block">
            ./scanlog account plan {id} {plan === 'enterprise' ? 'business' : 'enterprise'}
          </code>
        </p>
        {most !== null && usage.qr_codes >= most * 0.9 && (
          <p class="verdict bad">Only {plural(Math.max(0, most - usage.qr_codes), 'code')} left.</p>
        )}
      </section>
    </div>
  );
}
