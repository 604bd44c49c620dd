import type { Static } from '@sinclair/typebox';
import type * as accounts from '../../api/account/account-schemas.ts';
import type * as events from '../../api/account/event-schemas.ts';
import type * as keys from '../../api/account/key-schemas.ts';
import type * as members from '../../api/account/member-schemas.ts';
import type * as reverts from '../../api/account/revert.ts';
import type * as alerts from '../../api/alerts/schemas.ts';
import type * as analytics from '../../api/analytics/schemas.ts';
import type * as domains from '../../api/domains/domain-schemas.ts';
import type * as logos from '../../api/images/logos.ts';
import type * as preflight from '../../api/images/preflight-schemas.ts';
import type * as bulkUpdates from '../../api/qrcodes/bulk-update-schemas.ts';
import type * as codes from '../../api/qrcodes/qrcode-schemas.ts';
import type * as targeting from '../../api/qrcodes/targeting-schemas.ts';
import type * as reports from '../../api/reports/schemas.ts';
import type * as shares from '../../api/shares/schemas.ts';
import type * as webhooks from '../../api/webhooks/webhook-schemas.ts';
import type * as subscriptions from '../../api/webhooks/webhooks-schemas.ts';
import type * as operators from '../operator/schemas.ts';
import type * as people from '../people/me.ts';
import type * as sessions from '../sessions.ts';

/** Types of API responses, derived from the API's schemas. */
export type QrCode = Static<typeof codes.QrCode>;
export type PastQrCode = Static<typeof codes.PastQrCode>;
export type ListedQrCode = Static<typeof codes.ListedQrCode>;
export type CreatedQrCode = Static<typeof codes.CreatedQrCode>;
export type Proof = Static<typeof preflight.Preflight>;
export type Resolved = Static<typeof targeting.Resolved>;
export type Tags = Static<typeof targeting.Tags>;
export type Availability = Static<typeof targeting.availability>;
export type HistoryEntry = Static<typeof codes.HistoryEntry>;
export type Account = Static<typeof accounts.Account>;
export type Domain = Static<typeof domains.Domain>;
export type Alert = Static<typeof alerts.Alert>;
export type Alerts = Static<typeof alerts.Alerts>;
export type RaisedAlerts = Static<typeof alerts.RaisedAlerts>;
export type Report = Static<typeof reports.Report>;
export type Share = Static<typeof shares.Share>;
export type Logo = Static<typeof logos.ListedLogo>;
export type ApiKey = Static<typeof keys.ApiKey>;
export type Reverted = Static<typeof reverts.RevertResponse>;
export type BulkUpdated = Static<typeof bulkUpdates.BulkUpdateResponse>;
export type CreatedApiKey = Static<typeof keys.CreatedApiKey>;
export type RotatedApiKey = Static<typeof keys.RotatedApiKey>;

export type AuditEvent = Static<typeof events.AuditEvent> & Pick<HistoryEntry, 'actor_name'>;
export type FeedPage = Static<typeof events.EventPage>;
/** An event of the type `scan.created`. */
export interface ScanEvent {
  data: OwnedScanRecord;
}

export type OperatorAccount = Static<typeof operators.ListedAccount>;
export type OperatorAccountPage = Static<typeof operators.AnyAccount>;
export type OperatorCode = Static<typeof operators.ListedCode>;
export type OperatorHost = Static<typeof operators.BlockedHost>;
export type OperatorUser = Static<typeof operators.ListedUser>;
export type OperatorHealth = Static<typeof operators.Health>;
export type OperatorAction = Static<typeof operators.OperatorAction>;

export type ConsoleSession = Static<typeof sessions.ConsoleSession>;
export type PhoneLink = Static<typeof sessions.PhoneLink>;

export interface Page<T> {
  data: T[];
  pagination: { page: number; limit: number; total: number; total_pages: number };
}

/** A response to a read with `include=counts`, whose summaries have all figures. */
type WithCounts<T extends Pick<Static<typeof analytics.Summary>, 'summary' | 'previous'>> = Omit<
  T,
  'summary' | 'previous'
> & {
  summary: Required<T['summary']>;
  previous?: {
    period: Static<typeof analytics.Summary>['period'];
    summary: Required<NonNullable<T['previous']>['summary']>;
  };
};
export type Summary = WithCounts<Static<typeof analytics.Summary>>;
export type Aggregate = WithCounts<Static<typeof analytics.Aggregate>>;
export type TimeSeries = Static<typeof analytics.TimeSeries>;
export type HeatMap = Static<typeof analytics.HeatMap>;
export type AccountTimeSeries = Static<typeof analytics.AccountTimeSeries>;
export type CodeFigures = Static<typeof analytics.CodeFigures>;
export type OwnedScanRecord = Static<typeof analytics.OwnedScanRecord>;
export type Destinations = Static<typeof analytics.Destinations>;
export type ScanRecord = Static<typeof analytics.ScanRecord>;

export type Webhook = Static<typeof webhooks.Webhook>;
export type WebhookTest = Static<typeof webhooks.WebhookTest>;
/** A webhook of `/v1/webhooks`. */
export type Subscription = Static<typeof subscriptions.Subscription>;
export type NewSubscription = Static<typeof subscriptions.NewSubscription>;
export interface ListedWebhooks {
  data: Subscription[];
}
export type Replay = Static<typeof subscriptions.Replay>;
export type NewReplay = Static<typeof subscriptions.NewReplay>;
export type AnyDelivery = Static<typeof subscriptions.SubscriptionDelivery>;
export type { ContractScan } from '../../../events/webhooks/notification.ts';
/** The outcome of one request to a webhook: of a delivery attempt or of a test event. */
export type Attempt = Pick<WebhookTest, 'status_code' | 'duration_ms' | 'response' | 'error'>;

export type Member = Static<typeof members.Member>;
export type Invitation = Static<typeof members.Invitation>;
export type CreatedInvitation = Static<typeof members.CreatedInvitation>;
/** The person of the session. */
export type Me = Static<typeof people.Me>;
