import { useEffect, useRef } from 'preact/hooks';
import { date, number, plural } from '../format.ts';
import { Copy } from '../parts/copy.tsx';
import { Heading } from '../parts/heading.tsx';
import { Loading } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { may, NotAllowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { pageUrl } from '../router.ts';
import type { Account } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { Audit } from './audit.tsx';
import { DomainPage } from './domain-page.tsx';
import { Domains } from './domains.tsx';
import { Keys } from './keys.tsx';
import { Members } from './members.tsx';
import { Sessions } from './sessions.tsx';
import { Shares } from './shares.tsx';
import { TimeZone } from './time-zone.tsx';
import { WebhookSettings } from './webhook.tsx';
import { NewWebhookPage, WebhookPage } from './webhook-page.tsx';

/** Each with the part of its text that a phone has no room for, and the scope that it needs. */
const sections = [
  ['plan', '/account', 'Plan', ' and usage', 'account.read'],
  ['members', '/account/members', 'Members', '', 'account.read'],
  ['keys', '/account/keys', 'API keys', '', 'account.read'],
  ['sessions', '/account/sessions', 'Sessions', '', 'account.read'],
  ['webhook', '/account/webhook', 'Webhooks', '', 'webhooks.write'],
  ['domains', '/account/domains', 'Domains', '', 'account.read'],
  ['shares', '/account/shares', 'Shared pages', '', 'codes.read'],
  ['audit', '/account/audit', 'Audit log', '', 'events.read'],
] as const;
export type Section = (typeof sections)[number][0];

interface Props {
  /** Undefined for the first one that the key may see. */
  section: Section | undefined;
  /** The id of a webhook, or `new`. */
  webhook?: string | undefined;
  /** The id of a domain. */
  domain?: string | undefined;
}

export function AccountPage({ section: wanted, webhook, domain }: Props) {
  const account = useResource<Account>(may('account.read') ? '/account' : undefined);
  const allowed = sections.filter(
    // A person's sessions are of all their accounts, and on their own page.
    ([name, , , , scope]) => may(scope) && !(name === 'sessions' && bootstrap.user !== null),
  );
  const section = wanted ?? allowed[0]?.[0] ?? 'plan';
  const needed = sections.find(([name]) => name === section)?.[4] ?? 'account.read';
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // A phone shows only some of the tabs.
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [section]);
  return (
    <>
      <Heading title="Account" lead={bootstrap.account.name} />
      {allowed.length > 0 && (
        <nav class="tabs" aria-label="Account" ref={tabs}>
          {allowed.map(([name, path, text, wideText]) => (
            <a key={name} href={pageUrl(path)} aria-current={name === section ? 'page' : undefined}>
              {text}
              <span class="wide">{wideText}</span>
            </a>
          ))}
        </nav>
      )}
      {!may(needed) ? (
        <NotAllowed scope={needed} />
      ) : section === 'plan' ? (
        account.data === undefined ? (
          <Loading error={account.error} retry={account.reload} lines={5} />
        ) : (
          <PlanAndUsage account={account.data} reload={account.reload} />
        )
      ) : section === 'members' ? (
        <Members />
      ) : section === 'keys' ? (
        <Keys />
      ) : section === 'sessions' ? (
        <Sessions />
      ) : section === 'shares' ? (
        <Shares />
      ) : section === 'audit' ? (
        <Audit />
      ) : section === 'domains' ? (
        domain === undefined ? (
          <Domains />
        ) : (
          <DomainPage key={domain} id={domain} />
        )
      ) : webhook === undefined ? (
        <WebhookSettings plan={account.data?.plan ?? bootstrap.account.plan} />
      ) : webhook === 'new' ? (
        <NewWebhookPage />
      ) : (
        <WebhookPage key={webhook} id={webhook} />
      )}
      {section !== 'plan' && webhook !== 'new' && <ZoneNote />}
    </>
  );
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
