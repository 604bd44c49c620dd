import { useState } from 'preact/hooks';
import { deviceName } from '../account/sessions.tsx';
import { plural, relativeTime, time } from '../format.ts';
import { Loading } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import type { OwnSecurityChange } from './types.ts';

const texts: Record<OwnSecurityChange['change'], (detail: string) => string> = {
  password_set: () => 'Password set',
  password_changed: () => 'Password changed',
  password_reset: () => 'Password set with a link',
  email_changed: (to) => `E-mail address changed to ${to}`,
  passkey_added: (name) => `Passkey added: ${name}`,
  passkey_removed: (name) => `Passkey removed: ${name}`,
  codes_turned_on: () => 'One-time codes turned on',
  codes_turned_off: () => 'One-time codes turned off',
  recovery_codes_replaced: () => 'Recovery codes replaced',
  identity_linked: (host) => `Linked to an identity at ${host}`,
  unconfirmed_removed: () => 'Everything removed that signed in before your address was confirmed',
  sessions_ended: (count) => `${plural(Number(count), 'session')} ended`,
  reset_link_created: () => 'Link created that sets a new password',
};

/** How many are shown at first. */
const firstCount = 5;

/** What changed about how the person signs in. */
export function Security() {
  const { data, error, reload } = useResource<{ data: OwnSecurityChange[] }>('/me/security-changes', {
    refreshIntervalMs: 10_000,
  });
  const [isWhole, setIsWhole] = useState(false);
  if (data === undefined) return <Loading error={error} retry={reload} />;
  const changes = data.data;
  return (
    <section aria-label="Security history">
      <p class="hint toolbar">
        What changed about how you sign in, in the last year. If you do not recognize a change, set another password and
        end your other sessions.
      </p>
      {changes.length === 0 ? (
        <p class="card muted">Nothing has changed yet.</p>
      ) : (
        <ol class="card lines audit">
          {changes.slice(0, isWhole ? changes.length : firstCount).map((change) => (
            <li key={change.number}>
              <div class="what wrapped">{texts[change.change](change.detail ?? '')}</div>
              <span class="muted wrapped">{whoOf(change)}</span>
              <time class="muted" dateTime={change.changed_at} title={time(change.changed_at)}>
                {relativeTime(change.changed_at)}
              </time>
            </li>
          ))}
        </ol>
      )}
      {!isWhole && changes.length > firstCount && (
        <div class="row actions">
          <button type="button" class="button" onClick={() => setIsWhole(true)}>
            Show all {changes.length}
          </button>
        </div>
      )}
    </section>
  );
}

const whoOf = ({ by, device, browser }: OwnSecurityChange) =>
  by === 'operator'
    ? 'By an operator'
    : deviceName({ device: device ?? 'Unknown device', browser: browser ?? 'Unknown' });
