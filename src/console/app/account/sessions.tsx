import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date, plural, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { ConsoleSession } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { PhoneDialog } from './phone-dialog.tsx';

export const deviceName = ({ device, browser }: Pick<ConsoleSession, 'device' | 'browser'>) =>
  browser.startsWith('Unknown') ? device : `${browser} on ${device.replace('Unknown', 'unknown')}`;

/** On a device of one's own, the end is 30 days after the last use, until the last 30 of its 90 days. */
const movesWithUse = ({ is_own_device, last_used_at, ends_at }: ConsoleSession) =>
  is_own_device && Date.parse(ends_at) - Date.parse(last_used_at) > 29 * 86_400_000;

/** Whether the user may end sessions: sessions of a person are the person's own. */
const mayEnd = () => bootstrap.user !== null || may('account.write');

/** Where the person, or the account by its keys, is signed in to the console. */
export function Sessions() {
  const sessions = useResource<{ data: ConsoleSession[] }>('/sessions', { refreshIntervalMs: 10_000 });
  const [open, setOpen] = useState<'phone' | 'others' | ConsoleSession>();
  if (sessions.data === undefined) return <Loading error={sessions.error} retry={sessions.reload} />;
  const { data } = sessions.data;
  const close = () => setOpen(undefined);
  return (
    <section aria-label="Sessions">
      <div class="row gap-m toolbar">
        <p class="hint">
          Where {bootstrap.user === null ? 'this account is' : 'you are'} signed in to the console. End a session that
          you do not recognize.
        </p>
        <span class="spacer" />
        {data.length > 1 && mayEnd() && (
          <button type="button" class="button danger" onClick={() => setOpen('others')}>
            End all others
          </button>
        )}
        <button type="button" class="button primary" onClick={() => setOpen('phone')}>
          <Icon name="phone" />
          Sign in my phone
        </button>
      </div>
      <ul class="card lines">
        {data.map((session) => (
          <li key={session.id} class="row between gap-l">
            <div>
              <strong>{deviceName(session)}</strong>{' '}
              {bootstrap.user === null &&
                session.modes.map((mode) => (
                  <span key={mode} class={`badge ${mode}`}>
                    {mode === 'live' ? 'Live' : 'Test'}
                  </span>
                ))}
              {session.is_new_device && <span class="badge paused">New device</span>}
              <p class="hint">
                Signed in {date(session.created_at)} ·{' '}
                <time dateTime={session.last_used_at} title={time(session.last_used_at)}>
                  last used {relativeTime(session.last_used_at)}
                </time>{' '}
                · ends{' '}
                <time dateTime={session.ends_at} title={time(session.ends_at)}>
                  {relativeTime(session.ends_at)}
                </time>
                {movesWithUse(session) && ' without use'}
              </p>
            </div>
            {session.is_current ? (
              <span class="badge active">This one</span>
            ) : (
              mayEnd() && (
                <button
                  type="button"
                  class="button danger"
                  aria-label={`End ${deviceName(session)}`}
                  onClick={() => setOpen(session)}
                >
                  End
                </button>
              )
            )}
          </li>
        ))}
      </ul>
      {open === 'phone' && <PhoneDialog known={data} onSignedIn={sessions.reload} onClose={close} />}
      {open === 'others' && (
        <EndDialog
          title="End all other sessions?"
          path="/sessions"
          text={`${plural(data.length - 1, 'session')} on other devices and browsers ${data.length === 2 ? 'is' : 'are'} signed out at once.`}
          onDone={sessions.reload}
          onClose={close}
        />
      )}
      {typeof open === 'object' && (
        <EndDialog
          title={`End ${deviceName(open)}?`}
          path={`/sessions/${open.id}`}
          text={`That device is signed out at once. If you do not recognize it, also ${
            bootstrap.user === null ? 'revoke the API key that it used' : 'change your password'
          }.`}
          onDone={sessions.reload}
          onClose={close}
        />
      )}
    </section>
  );
}

interface EndProps {
  title: string;
  text: string;
  /** What to delete. */
  path: string;
  onDone(): Promise<void>;
  onClose(): void;
}

function EndDialog({ title, text, path, onDone, onClose }: EndProps) {
  const end = async () => {
    const { ended } = await api.delete<{ ended: string[] }>(path);
    await onDone();
    toast(`${plural(ended.length, 'session')} ended.`);
    onClose();
  };
  const label = path === '/sessions' ? 'End sessions' : 'End session';
  return (
    <ConfirmDialog title={title} label={label} isDangerous onConfirm={end} onClose={onClose}>
      <p>{text}</p>
    </ConfirmDialog>
  );
}
