import type { Change } from '../../events/entry.ts';
import type { Plan } from '../../events/plans.ts';
import type { Warehouse } from '../analytics/connect.ts';
import type { OperatorLimits } from '../codes/quota.ts';
import type { Addresses } from '../config/config.ts';
import type { OidcSettings } from '../config/oidc-settings.ts';
import type { Signup } from '../config/settings.ts';
import type { DomainChecker } from '../domains/checker.ts';
import type { Feed } from '../feed/feed.ts';
import type { Clock } from '../lib/clock.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Policy } from '../webhooks/destination.ts';
import type { Send } from '../webhooks/send.ts';

/** Dependencies of the operations. */
export interface Service {
  sql: Sql;
  warehouse: Warehouse;
  clock: Clock;
  addresses: Addresses;
  limits: OperatorLimits;
  /** Maximum number of logos of an account in one mode. */
  maxLogos: number;
  /** Who can become a new person, and the plan of accounts that people create. */
  signup: Signup;
  signupPlan: Plan;
  /** The OpenID provider at which people can sign in. */
  oidc?: OidcSettings | undefined;
  webhooks: { box: SecretBox; policy: Policy; send: Send };
  /** Where mails are queued; undefined without SMTP_URL. */
  mail?: Outbox | undefined;
  domains: Pick<DomainChecker, 'check'>;
  feed: Feed;
  tracing?: Tracing | undefined;
  /** Called with every committed change of a code or domain; the response waits until the short links have applied it. */
  onChange(events: Change[]): Promise<void>;
}
