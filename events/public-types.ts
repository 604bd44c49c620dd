import { Type } from '@sinclair/typebox';
import { guestPageText } from './account.ts';
import { differenceOf, fieldEventTypes } from './code-change.ts';
import type { CodeEvent } from './code-events.ts';
import { logoFormats } from './logo.ts';
import { oneOf } from './one-of.ts';
import { modes, plans } from './plans.ts';
import { publicAlertTypes } from './public-alert-types.ts';
import { publicDomainTypes } from './public-domain-types.ts';
import { CreatedKeyData, keyId, RotatedKeyData } from './public-key.ts';
import { publicMemberTypes } from './public-member-types.ts';
import { publicReportTypes } from './public-report-types.ts';
import { publicShareTypes } from './public-share-types.ts';
import { define, type EntryOf, type EntryType, exact } from './public-type.ts';
import type { Recorded } from './recorded.ts';
import { OwnedScanRecord, scanRecordOf } from './scan-record.ts';
import { sessionEnds, signInFailures, signInMeans } from './session.ts';
import { webhookId as idOfWebhook } from './webhooks/endpoint.ts';
import { disabledReasons, keyOfEvent, type WebhookEvent, webhookSettings } from './webhooks/webhook.ts';

const qrId = Type.String({ description: 'Identifier of the code.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] });
const logoId = Type.String({ description: 'Identifier of the logo.', examples: ['logo_0VMNcq2hE3kx0dTtWq8LbY'] });
const pixels = Type.Integer({ description: 'In pixels.', examples: [512] });
const bytes = Type.Integer({ description: 'Size of the uploaded image.', examples: [20_480] });
const mode = oneOf(modes);
const sessionId = Type.String({ description: 'Identifier of the session.', examples: ['sess_0VMNcq2hE3kx0dTtWq8LbY'] });
const nothing = Type.Object({}, exact);
const reason = Type.String({ description: 'The reason that the operator gave.', examples: ['Phishing'] });

/** What changed about a code; the same as in the history of the code. */
const CodeChange = Type.Object(
  {
    qr_id: qrId,
    field: Type.Union([Type.String(), Type.Null()], {
      description:
        'The field that changed, or `schedule`, `query` for several; `version` for a restore; null for create and delete.',
      examples: ['destination_url'],
    }),
    from: Type.Unknown({ description: 'Value before the change.', examples: ['https://example.com/menu'] }),
    to: Type.Unknown({
      description: 'Value after the change; for a new code all fields that were given.',
      examples: ['https://example.com/summer'],
    }),
  },
  exact,
);

const ofCode = <const T extends CodeEvent['type']>(summary: string, ...entries: T[]) =>
  define({
    summary,
    entries,
    data: CodeChange,
    dataOf(entry: EntryOf<T>) {
      const event = entry as unknown as Recorded<CodeEvent>;
      return { qr_id: event.stream, ...differenceOf(event) };
    },
  });

const AccountChange = Type.Object(
  {
    field: oneOf(['name', 'timezone', 'guest_page', 'primary_domain']),
    from: Type.String({ examples: ['UTC'] }),
    to: Type.String({ examples: ['Europe/Vienna'] }),
  },
  exact,
);

const webhookId = Type.String({ description: 'Identifier of the webhook.', examples: ['wh_0VMNcq2hE3kx0dTtWq8LbY'] });
const webhookChange = Type.Partial(Type.Object(webhookSettings, exact), exact);

const webhookIdentity = (entry: EntryOf<WebhookEvent['type']>) => ({
  webhook_id: idOfWebhook(keyOfEvent(entry)),
  mode: entry.data.mode,
});

/**
 * All types of events that the owner of an account sees, in the feed, the audit log and webhooks. The OpenAPI document
 * follows from an entry here. `data` never has a secret or the hash of one, a visitor hash, or the address of a
 * client.
 */
export const publicTypes = {
  'scan.created': define({
    summary: 'A code was scanned.',
    entries: ['code_scanned'],
    data: OwnedScanRecord,
    dataOf: scanRecordOf,
  }),
  'code.created': ofCode('A code was created.', 'code_created'),
  'code.updated': ofCode(
    'One field of a code changed; a request that changes several fields makes several events.',
    ...fieldEventTypes,
    'password_changed',
    'password_removed',
  ),
  'code.paused': ofCode('A code was paused.', 'code_paused'),
  'code.resumed': ofCode('A paused code was resumed.', 'code_resumed'),
  'code.published': ofCode('A draft went live.', 'code_published'),
  'code.restored': ofCode(
    'An earlier version of a code was brought back; each field that this changed is an event of its own.',
    'code_restored',
  ),
  'code.limit_reached': ofCode('A code has had `max_scans` scans.', 'limit_reached'),
  'code.disabled': ofCode('The operator took a code down.', 'code_disabled'),
  'code.enabled': ofCode('The operator restored a code.', 'code_enabled'),
  'code.deleted': ofCode('A code was deleted.', 'code_deleted'),
  'key.created': define({
    summary: 'An API key was created.',
    entries: ['key_created'],
    data: CreatedKeyData,
    dataOf: ({ data: { key, hash: _, ...data } }) => ({ key_id: key, ...data }),
  }),
  'key.rotated': define({
    summary: 'An API key was replaced by a new one, and works until `expires_at`.',
    entries: ['key_rotated'],
    data: RotatedKeyData,
    dataOf: ({ data: { key, ...data } }) => ({ key_id: key, ...data }),
  }),
  'key.revoked': define({
    summary: 'An API key was revoked.',
    entries: ['key_revoked'],
    data: Type.Object({ key_id: keyId }, exact),
    dataOf: ({ data }) => ({ key_id: data.key }),
  }),
  'webhook.set': define({
    summary: 'The webhook of `/v1/account/webhook` was set, changed or enabled again.',
    entries: ['webhook_set'],
    data: Type.Object({ mode, url: Type.String({ examples: ['https://example.com/hooks/scans'] }) }, exact),
    dataOf: ({ data }) => data,
  }),
  'webhook.created': define({
    summary: 'A webhook was created with `POST /v1/webhooks`.',
    entries: ['webhook_created'],
    data: Type.Object({ webhook_id: webhookId, mode, ...webhookSettings }, exact),
    dataOf: ({ data: { webhook, ...settings } }) => ({ webhook_id: webhook, ...settings }),
  }),
  'webhook.updated': define({
    summary: 'Settings of a webhook changed; `from` and `to` have only those.',
    entries: ['webhook_changed'],
    data: Type.Object({ webhook_id: webhookId, mode, from: webhookChange, to: webhookChange }, exact),
    dataOf: ({ data: { webhook, ...change } }) => ({ webhook_id: webhook, ...change }),
  }),
  'webhook.secret_rotated': define({
    summary: 'The signing secret of a webhook was replaced.',
    entries: ['webhook_rotated', 'webhook_secret_rotated'],
    data: Type.Object({ webhook_id: webhookId, mode }, exact),
    dataOf: webhookIdentity,
  }),
  'webhook.disabled': define({
    summary: 'The service disabled a webhook: the receiver answered 410, or every delivery failed for 5 days.',
    entries: ['webhook_disabled', 'webhook_stopped'],
    data: Type.Object({ webhook_id: webhookId, mode, reason: oneOf(disabledReasons) }, exact),
    dataOf: (entry) => ({ ...webhookIdentity(entry), reason: entry.data.reason }),
  }),
  'webhook.deleted': define({
    summary: 'A webhook was removed.',
    entries: ['webhook_removed', 'webhook_deleted'],
    data: Type.Object({ webhook_id: webhookId, mode }, exact),
    dataOf: webhookIdentity,
  }),
  'session.created': define({
    summary: 'Someone signed in to the console.',
    entries: ['session_started'],
    data: Type.Object(
      {
        session_id: sessionId,
        mode,
        by: oneOf(signInMeans, {
          description:
            'With a key, with a password, passkey or identity provider, or with a link, from another signed-in device or to set a password.',
        }),
        device: Type.String({ examples: ['iPhone'] }),
        browser: Type.String({ examples: ['Safari'] }),
        is_new_device: Type.Boolean({
          description: 'Whether the person had never signed in on this device before; false for a key.',
        }),
      },
      exact,
    ),
    dataOf: ({ data: { session, ...data } }) => ({ session_id: session, ...data }),
  }),
  'session.ended': define({
    summary:
      'A console session was ended, by its own sign-out, by another session or by the operator. Sessions that expire are not reported.',
    entries: ['session_ended'],
    data: Type.Object({ session_id: sessionId, mode, by: oneOf(sessionEnds) }, exact),
    dataOf: ({ data: { session, ...data } }) => ({ session_id: session, ...data }),
  }),
  'sign_in.failed': define({
    summary:
      'A sign-in to the console was refused, and the key or link belongs to this account. At most 10 an hour are recorded.',
    entries: ['sign_in_failed'],
    data: Type.Object({ mode, reason: oneOf(signInFailures) }, exact),
    dataOf: ({ data }) => data,
  }),
  'logo.created': define({
    summary: 'A logo was uploaded.',
    entries: ['logo_added'],
    data: Type.Object(
      { logo_id: logoId, mode, format: oneOf(logoFormats), width: pixels, height: pixels, bytes },
      exact,
    ),
    dataOf: ({ data: { logo, hash: _, ...data } }) => ({ logo_id: logo, ...data }),
  }),
  'logo.deleted': define({
    summary: 'A logo was deleted.',
    entries: ['logo_removed'],
    data: Type.Object({ logo_id: logoId, mode }, exact),
    dataOf: ({ data: { logo, mode } }) => ({ logo_id: logo, mode }),
  }),
  ...publicDomainTypes,
  ...publicShareTypes,
  ...publicAlertTypes,
  ...publicReportTypes,
  ...publicMemberTypes,
  'account.created': define({
    summary: 'The operator created the account.',
    entries: ['account_created'],
    data: Type.Object({ name: Type.String({ examples: ['Café Lumière'] }), plan: oneOf(plans) }, exact),
    dataOf: ({ data }) => data,
  }),
  'account.updated': define({
    summary: 'The name, the time zone, the guest page or the primary domain of the account changed.',
    entries: ['account_renamed', 'timezone_changed', 'guest_page_changed', 'primary_domain_changed'],
    data: AccountChange,
    dataOf(event) {
      if (event.type === 'account_renamed') return { field: 'name' as const, ...event.data };
      if (event.type === 'timezone_changed') return { field: 'timezone' as const, ...event.data };
      if (event.type === 'primary_domain_changed')
        return { field: 'primary_domain' as const, from: event.data.from ?? 'none', to: event.data.to ?? 'none' };
      const { from, to } = event.data;
      return { field: 'guest_page' as const, from: guestPageText(from), to: guestPageText(to) };
    },
  }),
  'account.plan_changed': define({
    summary: 'The operator changed the plan of the account.',
    entries: ['plan_changed'],
    data: Type.Object({ from: oneOf(plans), to: oneOf(plans) }, exact),
    dataOf: ({ data }) => data,
  }),
  'account.reverted': define({
    summary:
      'What a key or a person did to codes in a period was undone; each change of a code is an event of its own.',
    entries: ['account_reverted'],
    data: Type.Object(
      {
        mode,
        actor: Type.String({
          description: 'The key or person whose changes were undone.',
          examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'],
        }),
        from: Type.String({ format: 'date-time', examples: ['2026-05-03T08:00:00.000Z'] }),
        to: Type.String({ format: 'date-time', examples: ['2026-05-03T12:00:00.000Z'] }),
        changed: Type.Integer({ description: 'Codes that were changed.', examples: [12] }),
        skipped: Type.Integer({ description: 'Things that were left as they are.', examples: [1] }),
      },
      exact,
    ),
    dataOf: ({ data }) => data,
  }),
  'account.suspended': define({
    summary: 'The operator suspended the account.',
    entries: ['account_suspended'],
    data: Type.Object({ reason }, exact),
    dataOf: ({ data }) => data,
  }),
  'account.resumed': define({
    summary: 'The operator ended the suspension of the account.',
    entries: ['account_resumed'],
    data: nothing,
    dataOf: () => ({}),
  }),
};

export type PublicType = keyof typeof publicTypes;
export const publicTypeNames = Object.keys(publicTypes) as PublicType[];

/** Types of log entries that no owner sees: of the service as a whole, and of deleted accounts. */
export const hiddenEntries = [
  ...(['destination_blocked', 'destination_unblocked', 'scans_dropped', 'scans_archived'] as const),
  ...(['user_disabled', 'user_enabled', 'operator_set', 'reset_link_created'] as const),
  ...(['one_time_codes_removed', 'user_deleted'] as const),
  ...(['account_deleted', 'code_erased', 'erased'] as const),
] satisfies EntryType[];

type Shown = (typeof publicTypes)[PublicType]['entries'][number];
type Missing = Exclude<EntryType, Shown | (typeof hiddenEntries)[number]>;
/** A compile error here: the types of log entries in `Missing` need a public type, or a place in `hiddenEntries`. */
true satisfies [Missing] extends [never] ? true : Missing;
