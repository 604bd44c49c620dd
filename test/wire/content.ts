import type { Change } from '../../events/entry.ts';
import type { RecordedScan } from '../../events/scan.ts';

/** The content of the fixtures in `test/fixtures/wire/`, the same for every version. */

const occurred = (second: number) => new Date(Date.UTC(2026, 2, 1, 9, 30, second, 250 * (second % 4)));

export const scans: RecordedScan[] = [
  ['Munich', 'Bavaria', '0123456789abcdef0123456789abcdef'],
  ['Tab\tand\\n and "quotes", {braces}', "L'Aquila", 'ffffffffffffffffffffffffffffffff'],
  ['東京', '', '00000000000000000000000000000001'],
].map(([city = '', region = '', visitor = ''], i) => ({
  type: 'code_scanned',
  position: 41 + i,
  is_unique: i !== 1,
  id: `scan_00000000000000000000000${i}`,
  code: `qr_0000000000000000000000000${i}`,
  account: 'acct_00000000000000000000000000',
  mode: i === 2 ? 'test' : 'live',
  occurred_at: occurred(i),
  country: 'DE',
  region,
  city,
  device: 'ios',
  browser: 'safari',
  is_bot: i === 2,
  visitor,
  revision: i + 1,
}));

/** The same scans with the rules that they took: none, a variant of a split, a rule. */
export const ruledScans: RecordedScan[] = scans.map((scan, i) => ({
  ...scan,
  ...[{}, { rule: 'r7dKm2VbNcXz', variant: 'v3hXb9TkPqRw' }, { rule: 'f1ab' }][i],
}));

const code = 'qr_00000000000000000000000000';
const account = 'acct_00000000000000000000000000';

const recorded = (stream: string, version: number, event: Pick<Change, 'type' | 'data'>): Change =>
  ({
    ...event,
    position: 43 + version + (stream === code ? 0 : 7),
    id: `evt_0000000000000000000000000${version}`,
    stream,
    version,
    actor: 'operator',
    occurred_at: occurred(version),
  }) as Change;

const named = { from: 'Menu', to: 'Speisekarte "Süd"\n' };

/** One change of every type that existed when messages had no schema numbers. */
export const changes: Change[] = [
  ...[
    {
      type: 'code_created' as const,
      data: {
        account,
        mode: 'live' as const,
        name: 'Menu',
        destination_url: 'https://example.com/menu',
        short_code: 'menu-1',
        // What the upcaster makes of the older fixtures.
        short_code_given: null,
        status: 'draft' as const,
        style: { dotsType: 'dots' as const, dotsColor: '#112233' },
      },
    },
    { type: 'code_renamed' as const, data: named },
    {
      type: 'destination_changed' as const,
      data: { from: 'https://example.com/menu', to: 'https://example.com/ü', revision: 2 },
    },
    { type: 'code_published' as const, data: {} },
    { type: 'code_paused' as const, data: {} },
    { type: 'code_resumed' as const, data: {} },
    { type: 'code_deleted' as const, data: {} },
  ].map((event, i) => recorded(code, i + 1, event)),
  ...[
    { type: 'account_created' as const, data: { name: 'Café', plan: 'free' as const } },
    { type: 'plan_changed' as const, data: { from: 'free' as const, to: 'pro' as const } },
    {
      type: 'key_created' as const,
      data: {
        key: 'key_1',
        name: 'till',
        mode: 'live' as const,
        hash: 'ab'.repeat(32),
        last4: 'wxyz',
        // What the upcaster makes of the older fixtures.
        scopes: null,
        expires_at: null,
        allowed_cidrs: null,
      },
    },
    { type: 'key_revoked' as const, data: { key: 'key_1' } },
    { type: 'webhook_set' as const, data: { mode: 'live' as const, url: 'https://example.com/hook' } },
    { type: 'webhook_rotated' as const, data: { mode: 'live' as const } },
    { type: 'webhook_disabled' as const, data: { mode: 'live' as const, reason: 'gone' as const } },
    { type: 'webhook_removed' as const, data: { mode: 'live' as const } },
  ].map((event, i) => recorded(account, i + 1, event)),
];

const rules = [
  {
    id: 'r7dKm2VbNcXz',
    name: 'Lunch',
    when: {
      countries: ['DE'],
      days: ['mon' as const],
      hours: { from: '11:00', to: '15:00' },
      timezone: 'Europe/Berlin',
    },
    destination_url: 'https://example.com/lunch?ü',
  },
  {
    id: 'rA',
    split: [
      { id: 'vA', weight: 1, destination_url: 'https://example.com/a' },
      { id: 'vB', name: 'B', weight: 2, destination_url: 'https://example.com/b' },
    ],
  },
];
const noSchedule = { starts_at: null, expires_at: null };
const [creation] = changes;

/** One change of every type that decides where a code leads. */
export const targetingChanges: Change[] = [
  {
    type: 'code_created' as const,
    data: {
      ...(creation?.type === 'code_created' ? creation.data : undefined),
      rules,
      starts_at: '2026-03-01T09:30:00.000Z',
      expires_at: '2026-04-01T09:30:00.000Z',
      max_scans: 7,
      fallback_url: 'https://example.com/closed',
      forward_query: true as const,
      utm: { source: 'flyer' },
      tags: ['summer'],
    },
  },
  { type: 'rules_changed' as const, data: { from: rules, to: null } },
  {
    type: 'schedule_changed' as const,
    data: { from: noSchedule, to: { ...noSchedule, expires_at: '2026-04-01T09:30:00.000Z' } },
  },
  { type: 'limit_changed' as const, data: { from: null, to: 7 } },
  { type: 'limit_reached' as const, data: { max_scans: 7 } },
  { type: 'fallback_changed' as const, data: { from: null, to: 'https://example.com/closed' } },
  {
    type: 'query_changed' as const,
    data: { from: { forward_query: false, utm: null }, to: { forward_query: true, utm: { source: 'flyer' } } },
  },
  { type: 'tags_changed' as const, data: { from: null, to: ['summer'] } },
].map((event, i) => recorded(code, i + 1, event as Pick<Change, 'type' | 'data'>));

/** A code with a note, and a change of it. */
export const noteChanges: Change[] = [
  {
    type: 'code_created' as const,
    data: { ...(creation?.type === 'code_created' ? creation.data : undefined), note: 'Terrasse "Süd"\nTisch 1' },
  },
  { type: 'note_changed' as const, data: { from: 'Terrasse "Süd"\nTisch 1', to: null } },
].map((event, i) => recorded(code, i + 1, event as Pick<Change, 'type' | 'data'>));

/** A code with a tag that is not in lower case, and changes of its spelling. */
export const tagChanges: Change[] = [
  {
    type: 'code_created' as const,
    data: {
      ...(creation?.type === 'code_created' ? creation.data : undefined),
      tags: ['straße', 'süd'],
      tag_names: ['Straße', 'SÜD'],
    },
  },
  {
    type: 'tags_changed' as const,
    data: { from: ['straße', 'süd'], to: ['süd'], names: { from: ['Straße', 'SÜD'], to: null } },
  },
].map((event, i) => recorded(code, i + 1, event as Pick<Change, 'type' | 'data'>));

/** A code with every part that a style can have. */
export const styledChanges: Change[] = [
  recorded(code, 1, {
    type: 'code_created' as const,
    data: {
      ...(creation?.type === 'code_created' ? creation.data : undefined),
      style: {
        dotsType: 'dots' as const,
        dotsGradient: {
          type: 'linear' as const,
          rotation: 0.5,
          colorStops: [
            { offset: 0, color: '#112233' },
            { offset: 1, color: '#445566' },
          ],
        },
        backgroundColor: 'transparent',
        logo: {
          id: 'logo_0000000000000000000000',
          size: 0.25,
          margin: 1,
          shape: 'circle' as const,
          background: '#FFFFFF',
        },
        frame: { type: 'label-bottom' as const, text: 'Меню', color: '#112233', textColor: '#FFFFFF' },
        quietZone: 2,
        errorCorrection: 'H' as const,
      },
    },
  } as Pick<Change, 'type' | 'data'>),
];

const webhook = { webhook: 'wh_0000000000000000000000', mode: 'test' as const };
const settings = { description: 'Küche', events: ['scan.created', 'code.updated'], qr_ids: null, tags: ['summer'] };

const domain = { domain: 'dom_0000000000000000000000', name: 'xn--bcher-kva.example' };
const noPages = { root_url: null, not_found_url: null, expired_url: null, app_links: null };

/** A code on a custom domain with a password, and one change of every type of domains. */
export const domainChanges: Change[] = [
  recorded(code, 1, {
    type: 'code_created' as const,
    data: {
      ...(creation?.type === 'code_created' ? creation.data : undefined),
      short_code: 'xn--bcher-kva.example/Menu-1',
      has_password: true,
    },
  } as Pick<Change, 'type' | 'data'>),
  recorded(code, 2, { type: 'password_changed', data: {} }),
  recorded(code, 3, { type: 'password_removed', data: {} }),
  ...[
    { type: 'domain_added' as const, data: { ...domain, token: 'token' } },
    { type: 'domain_verified' as const, data: domain },
    {
      type: 'domain_failed' as const,
      data: { ...domain, problems: [{ check: 'txt' as const, expected: 'scanlog-verify=token', found: 'nothing' }] },
    },
    {
      type: 'domain_changed' as const,
      data: {
        ...domain,
        from: noPages,
        to: { ...noPages, root_url: 'https://example.com/ü', app_links: { apple: { applinks: {} }, android: [{}] } },
      },
    },
    { type: 'domain_removed' as const, data: { ...domain, reason: 'removed' as const } },
    { type: 'primary_domain_changed' as const, data: { from: null, to: domain.domain } },
  ].map((event, i) => recorded(account, i + 1, event)),
];

/** Changes of keys with limits, and of their rotation. */
export const keyChanges: Change[] = [
  {
    type: 'key_created' as const,
    data: {
      key: 'key_2',
      name: 'report',
      mode: 'live' as const,
      hash: 'cd'.repeat(32),
      last4: 'abcd',
      scopes: ['codes.read' as const, 'analytics.read' as const],
      expires_at: '2026-12-31T23:00:00.000Z',
      allowed_cidrs: ['203.0.113.0/24', '2001:db8::/32'],
    },
  },
  {
    type: 'key_rotated' as const,
    data: { key: 'key_2', mode: 'live' as const, replaced_by: 'key_3', expires_at: '2026-03-02T09:30:00.000Z' },
  },
  { type: 'sign_in_failed' as const, data: { mode: 'live' as const, reason: 'key_expired' as const } },
].map((event, i) => recorded(account, i + 1, event));

const alert = { alert: 'alr_0000000000000000000000', mode: 'live' as const };
const raised = {
  ...alert,
  kind: 'silent' as const,
  name: 'Küche',
  subject: code,
  code,
  domain: null,
  title: '“Menu” is not scanned any more',
  message: '“Menu” has had no scan for 6 hours.',
  link: `https://qr.example.com/console/codes/${code}`,
};

const alertSettings = { name: 'Küche', codes: [code], tags: null, percent: 90, active: true };

/** One change of every type of alerts, which had no language at first. */
const alertChangesIn = (language: string, changed: { from: object; to: object }): Change[] =>
  [
    {
      type: 'alert_created' as const,
      data: { ...alert, kind: 'silent' as const, ...alertSettings, language },
    },
    { type: 'alert_changed' as const, data: { ...alert, ...changed } },
    { type: 'alert_raised' as const, data: raised },
    { type: 'alert_cleared' as const, data: { ...raised, raised_at: '2026-03-01T09:30:00.000Z' } },
    { type: 'alert_removed' as const, data: alert },
  ].map((event, i) => recorded(account, i + 1, event as Pick<Change, 'type' | 'data'>));

export const alertChanges = alertChangesIn('en', {
  from: { codes: [code], tags: null },
  to: { codes: null, tags: ['menu'] },
});
export const alertLanguageChanges = alertChangesIn('de', { from: { language: 'de' }, to: { language: 'pl' } });

const share = { share: 'shr_0000000000000000000000', mode: 'live' as const };
const report = { report: 'rpt_0000000000000000000000', mode: 'test' as const };
const chosen = { codes: [code], tags: null };
const shareSettings = {
  name: 'Süd',
  has_password: true,
  expires_at: null,
  bots: 'exclude' as const,
  frame_origins: [],
};
const reportSettings = {
  name: 'Süd',
  every: 'week' as const,
  timezone: 'Europe/Berlin',
  format: 'pdf' as const,
  recipients: 2,
};

/** One change of every type of shared pages and reports, of which the codes and the language could not be changed at first. */
const sharedChangesIn = (
  language: string,
  ofShare: { from: object; to: object },
  ofReport: { from: object; to: object },
) =>
  [
    { type: 'share_created' as const, data: { ...share, ...chosen, ...shareSettings } },
    { type: 'share_changed' as const, data: { ...share, ...ofShare } },
    { type: 'share_ended' as const, data: share },
    { type: 'report_created' as const, data: { ...report, ...chosen, ...reportSettings, language } },
    { type: 'report_changed' as const, data: { ...report, ...ofReport } },
    { type: 'report_removed' as const, data: report },
  ].map((event, i) => recorded(account, i + 1, event as Pick<Change, 'type' | 'data'>));

export const sharedChanges = sharedChangesIn(
  'en',
  { from: { name: 'Süd', bots: 'exclude' }, to: { name: 'Nord', bots: 'include' } },
  { from: { every: 'week' }, to: { every: 'month' } },
);
export const sharedLanguageChanges = sharedChangesIn(
  'de',
  { from: chosen, to: { codes: null, tags: ['menu'] } },
  { from: { language: 'de' }, to: { language: 'pl' } },
);

/** What operators do to people. */
export const operatorChanges: Change[] = [
  { type: 'user_disabled' as const, data: { user: 'usr_0000000000000000000000' } },
  { type: 'user_enabled' as const, data: { user: 'usr_0000000000000000000000' } },
  { type: 'operator_set' as const, data: { user: 'usr_0000000000000000000000', to: true } },
  { type: 'reset_link_created' as const, data: { user: 'usr_0000000000000000000000' } },
].map((event, i) => recorded('service', i + 1, event));

/** What operators do to people, since the fixture before was written. */
export const laterOperatorChanges: Change[] = [
  { type: 'one_time_codes_removed' as const, data: { user: 'usr_0000000000000000000000' } },
  { type: 'user_deleted' as const, data: { user: 'usr_0000000000000000000000' } },
].map((event, i) => recorded('service', i + 1, event));

/** One change of every type of members and invitations, and sessions of people. */
export const memberChanges: Change[] = [
  { type: 'member_joined' as const, data: { user: 'usr_0000000000000000000000', role: 'owner' as const } },
  { type: 'member_role_set' as const, data: { user: 'usr_0000000000000000000000', role: 'editor' as const } },
  { type: 'member_removed' as const, data: { user: 'usr_0000000000000000000000' } },
  { type: 'invitation_created' as const, data: { invitation: 'inv_0000000000000000000000', role: 'viewer' as const } },
  { type: 'invitation_revoked' as const, data: { invitation: 'inv_0000000000000000000000', role: 'viewer' as const } },
  { type: 'invitation_accepted' as const, data: { invitation: 'inv_0000000000000000000000', role: 'viewer' as const } },
  {
    type: 'session_started' as const,
    data: {
      session: 'sess_0000000000000000000000',
      mode: 'live' as const,
      by: 'password' as const,
      device: 'Mac',
      browser: 'Safari',
      is_new_device: true,
    },
  },
  {
    type: 'session_ended' as const,
    data: { session: 'sess_0000000000000000000000', mode: 'live' as const, by: 'operator' as const },
  },
].map((event, i) => recorded(account, i + 1, event));

/** A code that was imported from another service. */
export const importedChanges: Change[] = [
  recorded(code, 1, {
    type: 'code_created' as const,
    data: {
      ...(creation?.type === 'code_created' ? creation.data : undefined),
      imported_at: '2019-03-01T09:30:00.000Z',
      imported_scans: 6409,
    },
  } as Pick<Change, 'type' | 'data'>),
];

/** One change of every type of the webhooks of `/v1/webhooks`. */
export const webhookChanges: Change[] = [
  {
    type: 'webhook_created' as const,
    data: { ...webhook, url: 'https://example.com/hooks', ...settings, active: true },
  },
  {
    type: 'webhook_changed' as const,
    data: {
      ...webhook,
      from: { tags: ['summer'], qr_ids: null, active: true },
      to: { tags: null, qr_ids: [code], active: false },
    },
  },
  { type: 'webhook_secret_rotated' as const, data: webhook },
  { type: 'webhook_stopped' as const, data: { ...webhook, reason: 'failing' as const } },
  { type: 'webhook_deleted' as const, data: webhook },
].map((event, i) => recorded(account, i + 1, event));

/** The ranges of the messages with scans and with changes. */
export const scanRange = { after: 40, to: 43 };
export const changeRange = { after: 43, to: 60 };

export const batch = { writer: 'batch_00000000000000000000000000', number: 7 };

export const aliases: [string, string][] = [['MENU-0', 'menu-0']];

export const routes = (['active', 'deleted'] as const).map((status, i) => ({
  code: `qr_0000000000000000000000000${i}`,
  account,
  mode: 'live' as const,
  short_code: `menu-${i}`,
  destination_url: 'https://example.com/ü?"q"',
  revision: i + 1,
  status,
  disabled: false,
  version: i + 3,
  sealed_key: status === 'deleted' ? new Uint8Array() : new Uint8Array(32).fill(171),
}));

/** The same routes; the first has everything that decides where a code leads. */
export const targetedRoutes = routes.map((route, i) =>
  i === 1
    ? route
    : {
        ...route,
        targeting: {
          rules,
          starts_at: '2026-03-01T09:30:00.000Z',
          expires_at: '2026-04-01T09:30:00.000Z',
          max_scans: 7,
          limit_reached: true as const,
          fallback_url: 'https://example.com/closed',
          forward_query: true as const,
          utm: { source: 'flyer' },
        },
      },
);

/** With a route on a custom domain. */
export const routesOnDomains = [
  ...targetedRoutes,
  ...routes.slice(0, 1).map((route) => ({
    ...route,
    code: 'qr_00000000000000000000000009',
    short_code: 'xn--bcher-kva.example/Menu-1',
    password_hash: '$argon2id$v=19$m=65536,t=2,p=1$salt$hash',
  })),
];
