import { plural, time } from '../format.ts';
import type { ApiKey, AuditEvent } from '../types.ts';

interface AuditText {
  what: string;
  detail?: string;
}

const failures: Record<string, string> = {
  key_revoked: 'with a key that was revoked',
  key_expired: 'with a key that had expired',
  address_not_allowed: 'with a key that does not work from that network',
  other_account: 'while signed in to another account',
  other_mode: 'with a key of the other mode',
  link_expired: 'with a link that had expired',
};

const signInTexts: Record<string, string> = {
  link: ', with a link',
  password: ', with a password',
  passkey: ', with a passkey',
  oidc: ', with an identity provider',
};

const sessionEnds: Record<string, string> = {
  sign_out: 'Signed out of the console',
  other_session: 'Session ended from another device',
  operator: 'Session ended by the operator',
};

const accountFields: Record<string, string> = {
  timezone: 'time zone',
  guest_page: 'guest page',
  primary_domain: 'primary domain',
};

/** An event in words; an unknown type by its name. `names` has the names of keys by their ids. */
export function auditText(
  { type, data }: Pick<AuditEvent, 'type' | 'data'>,
  names: ReadonlyMap<string, string>,
): AuditText {
  const {
    name,
    mode,
    last4,
    key_id,
    expires_at,
    url,
    reason,
    from,
    to,
    device,
    browser,
    by,
    field,
    plan,
    actor,
    changed,
    logo_id,
    user_id,
    role,
  } = data as Record<string, string>;
  const keyName = (id = '') => names.get(id) ?? id;
  switch (type) {
    case 'key.created':
      return { what: `Key “${name}” created`, detail: `${mode} key ending in ${last4}${limitText(data)}` };
    case 'key.rotated':
      return {
        what: 'Key rotated',
        detail: `${keyName(key_id)}, whose old secret works until ${time(expires_at ?? '')}`,
      };
    case 'key.revoked':
      return { what: 'Key revoked', detail: keyName(key_id) };
    case 'webhook.set':
      return { what: 'Webhook set', detail: `${url} (${mode})` };
    case 'webhook.created':
      return { what: 'Webhook created', detail: `${url} (${mode})` };
    case 'webhook.updated':
      return webhookChange((data as { to?: Record<string, unknown> }).to ?? {});
    case 'webhook.secret_rotated':
      return { what: 'Webhook secret replaced', detail: `${mode} mode` };
    case 'webhook.disabled':
      return {
        what: 'Webhook disabled',
        detail: reason === 'gone' ? 'The receiver answered 410.' : 'Every delivery failed for 5 days.',
      };
    case 'webhook.deleted':
      return { what: 'Webhook removed', detail: `${mode} mode` };
    case 'share.created':
      return { what: `Shared page “${name}” created`, detail: `${mode} mode` };
    case 'share.changed':
      return { what: 'Shared page changed', detail: `${mode} mode` };
    case 'share.ended':
      return { what: 'Shared page ended', detail: `${mode} mode` };
    case 'session.created':
      return {
        what: (data as { is_new_device?: boolean }).is_new_device
          ? 'Signed in to the console on a new device'
          : 'Signed in to the console',
        detail: `${device}, ${browser}${signInTexts[by ?? ''] ?? ''}`,
      };
    case 'session.ended':
      return { what: sessionEnds[by ?? ''] ?? 'Session ended' };
    case 'member.joined':
      return { what: 'Member joined', detail: `${keyName(user_id)}, as ${role}` };
    case 'member.role_changed':
      return { what: 'Role changed', detail: `${keyName(user_id)} is ${role}` };
    case 'member.removed':
      return { what: 'Member left or removed', detail: keyName(user_id) };
    case 'invitation.created':
      return { what: 'Invitation created', detail: `as ${role}` };
    case 'invitation.revoked':
      return { what: 'Invitation revoked', detail: `as ${role}` };
    case 'invitation.accepted':
      return { what: 'Invitation accepted', detail: `as ${role}` };
    case 'sign_in.failed':
      return { what: 'Sign-in refused', detail: failures[reason ?? ''] ?? '' };
    case 'account.created':
      return { what: 'Account created', detail: `${name}, ${plan} plan` };
    case 'account.updated':
      return { what: `Account ${accountFields[field ?? ''] ?? field} changed`, detail: `${from} → ${to}` };
    case 'account.plan_changed':
      return { what: 'Plan changed', detail: `${from} → ${to}` };
    case 'account.reverted':
      return {
        what: 'Changes of a key undone',
        detail: `${keyName(actor)}: ${plural(Number(changed), 'code')} changed`,
      };
    case 'logo.created':
      return { what: 'Logo uploaded', detail: `${logo_id} (${mode})` };
    case 'logo.deleted':
      return { what: 'Logo deleted', detail: `${logo_id} (${mode})` };
    case 'domain.added':
      return { what: 'Domain added', detail: name ?? '' };
    case 'domain.verified':
      return { what: 'Domain verified', detail: name ?? '' };
    case 'domain.failing':
      return { what: 'Domain failing', detail: name ?? '' };
    case 'domain.updated':
      return { what: 'Domain settings changed', detail: name ?? '' };
    case 'domain.removed':
      return {
        what: reason === 'claimed' ? 'Domain lost to another account' : 'Domain removed',
        detail: name ?? '',
      };
    case 'account.suspended':
      return { what: 'Account suspended', detail: reason ?? '' };
    case 'account.resumed':
      return { what: 'Suspension ended' };
    case 'code.disabled':
      return { what: 'Code taken down', detail: to ?? '' };
    case 'code.enabled':
      return { what: 'Code restored' };
    default:
      return { what: type };
  }
}

/** What limits a new key; empty for full access. */
function limitText(data: AuditEvent['data']): string {
  const { scopes, expires_at, allowed_cidrs } = data as Partial<ApiKey>;
  return [
    scopes && `with ${scopes.join(', ')}`,
    expires_at && `until ${time(expires_at)}`,
    allowed_cidrs && `from ${allowed_cidrs.join(', ')}`,
  ]
    .filter((part) => typeof part === 'string')
    .map((part) => `, ${part}`)
    .join('');
}

const settingNames: Record<string, string> = { qr_ids: 'codes', url: 'URL' };

/** `to` has the settings of a webhook that were changed. */
function webhookChange({ active, ...to }: Record<string, unknown>): AuditText {
  const settings = Object.keys(to).map((setting) => settingNames[setting] ?? setting);
  const paused = active === undefined ? undefined : active ? 'Webhook resumed' : 'Webhook paused';
  if (settings.length === 0) return { what: paused ?? 'Webhook changed' };
  return { what: paused === undefined ? 'Webhook changed' : `${paused} and changed`, detail: settings.join(', ') };
}
