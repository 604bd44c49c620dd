import { date, number, plural } from '../format.ts';
import { Copy } from '../parts/copy.tsx';
import { Heading } from '../parts/heading.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { may, maySeeMembers, NotAllowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { Account } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { Alerts } from './alerts.tsx';
import { Audit } from './audit.tsx';
import { DomainPage } from './domain-page.tsx';
import { Domains } from './domains.tsx';
import { Keys } from './keys.tsx';
import { Members } from './members.tsx';
import { Reports } from './reports.tsx';
import { allowedSections, type Section, SectionLinks, scopeOf } from './sections.tsx';
import { Sessions } from './sessions.tsx';
import { Shares } from './shares.tsx';
import { TimeZone } from './time-zone.tsx';
import { WebhookSettings } from './webhook.tsx';
import { NewWebhookPage, WebhookPage } from './webhook-page.tsx';

interface Props {
  /** Undefined for the first one that the key may see. */
  section: Section | undefined;
  /** The id of a webhook, or `new`. */
  webhook?: string | undefined;
  /** The id of a domain. */
  domain?: string | undefined;
}

export function AccountPage({ section: wanted, webhook, domain }: Props) {
  const section = wanted ?? allowedSections()[0]?.name ?? 'plan';
  return (
    <>
      <Heading title="Account" lead={bootstrap.account.name} />
      <div class="beside-sections">
        <SectionLinks current={section} />
        <div>
          <SectionContent section={section} webhook={webhook} domain={domain} />
          {section !== 'plan' && webhook !== 'new' && <ZoneNote />}
        </div>
      </div>
    </>
  );
}

function SectionContent({ section, webhook, domain }: Props & { section: Section }) {
  const account = useResource<Account>(may('account.read') ? '/account' : undefined);
  const scope = scopeOf(section);
  if (!may(scope)) return <NotAllowed scope={scope} />;
  switch (section) {
    case 'plan':
      if (account.data === undefined) return <Loading error={account.error} retry={account.reload} lines={5} />;
      return <PlanAndUsage account={account.data} reload={account.reload} />;
    case 'keys':
      return <Keys />;
    case 'sessions':
      return <Sessions />;
    case 'reports':
      return <Reports />;
    case 'alerts':
      return <Alerts />;
    case 'members':
      if (maySeeMembers()) return <Members />;
      return (
        <Empty title="Members belong to live mode">
          <p>Sign in with a live key, or as a person, to see them.</p>
        </Empty>
      );
    case 'shares':
      return <Shares />;
    case 'audit':
      return <Audit />;
    case 'domains':
      return domain === undefined ? <Domains /> : <DomainPage key={domain} id={domain} />;
    case 'webhook':
      if (webhook === undefined) return <WebhookSettings plan={account.data?.plan ?? bootstrap.account.plan} />;
      return webhook === 'new' ? <NewWebhookPage /> : <WebhookPage key={webhook} id={webhook} />;
  }
}

const capitalize = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

function PlanAndUsage({
  account: { id, plan, limits, usage, timezone, created_at },
  reload,
}: {
  account: Account;
  reload(): Promise<void>;
}) {
  const maxCodes = limits.qr_codes;
  return (
    <div class="grid columns-l plan">
      <section class="card stack">
        <h2>{capitalize(plan)} plan</h2>
        <dl class="stack">
          {usage.qr_codes !== null && (
            <div>
              <dt>Live codes</dt>
              <dd>
                <span class="figure">{number(usage.qr_codes)}</span>{' '}
                {maxCodes === null ? 'no limit' : `of ${number(maxCodes)}`}
                {maxCodes !== null && (
                  <meter
                    min={0}
                    max={maxCodes}
                    high={maxCodes * 0.9}
                    value={usage.qr_codes}
                    aria-label="Live codes used"
                  />
                )}
              </dd>
            </div>
          )}
          <div>
            <dt>Test codes</dt>
            <dd>
              <span class="figure">{number(usage.test_qr_codes)}</span> not counted toward your plan
            </dd>
          </div>
          <div>
            <dt>Short codes of your choice</dt>
            <dd>
              <span class="figure">{number(usage.given_short_codes)}</span> of {number(limits.given_short_codes)} in 30
              days, deleted codes included
            </dd>
          </div>
          <div>
            <dt>Domains</dt>
            <dd>
              <span class="figure">{number(usage.domains)}</span> of {number(limits.domains)}
            </dd>
          </div>
          <div>
            <dt>API requests</dt>
            <dd>
              <span class="figure">{number(limits.requests_per_minute)}</span> per minute in each mode. Viewing pages in
              the console does not count.
            </dd>
          </div>
        </dl>
      </section>
      <section class="card stack">
        <h2>Account</h2>
        <dl class="stack">
          <div>
            <dt>Account ID</dt>
            <dd>
              <code>{id}</code>
              <Copy text={id} label="Copy account ID" />
            </dd>
          </div>
          <div>
            <dt>Created</dt>
            <dd>{date(created_at)}</dd>
          </div>
          <TimeZone timezone={timezone} onChange={reload} />
        </dl>
        <p class="hint">
          The operator of this service changes the plan by running:
          <code class="block">
            ./scanlog account plan {id} {plan === 'enterprise' ? 'business' : 'enterprise'}
          </code>
        </p>
        {maxCodes !== null && usage.qr_codes !== null && usage.qr_codes >= maxCodes * 0.9 && (
          <p class="row nowrap verdict bad">
            {plural(Math.max(0, maxCodes - usage.qr_codes), 'code')} left on your plan.
          </p>
        )}
      </section>
    </div>
  );
}
