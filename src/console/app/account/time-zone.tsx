import { useId } from 'preact/hooks';
import { api } from '../api.ts';
import { TimeZoneOptions } from '../parts/time-zone-options.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { may } from '../permissions.tsx';
import { currentMode } from '../router.ts';
import { deviceTimeZone, timeZoneText } from '../time-zones.ts';
import type { Account } from '../types.ts';
import { setAccountTimeZone } from '../welcome.ts';

const zoneOfBrowser = deviceTimeZone();

/** The time zone of the account, which can be chosen in live mode. */
export function TimeZone({ timezone, onChange }: { timezone: string; onChange(): Promise<void> }) {
  const id = useId();
  const { busy, run } = useAction();
  const set = (next: string) =>
    run(async () => {
      const account = await api.patch<Account>('/account', { timezone: next });
      setAccountTimeZone(account.timezone);
      await onChange();
      toast(`Days and times are now in ${timeZoneText(account.timezone)}.`);
    });
  const isLive = currentMode() === 'live';
  const canChange = isLive && may('account.write');
  return (
    <div>
      <dt>
        <label for={id}>Time zone</label>
      </dt>
      <dd>
        <span class="row actions">
          <select
            id={id}
            value={timezone}
            disabled={busy || !canChange}
            aria-describedby={`${id}-hint`}
            onChange={(event) => set(event.currentTarget.value)}
          >
            <TimeZoneOptions
              suggested={[
                [timezone, 'Now'],
                [zoneOfBrowser, 'Of this device'],
              ]}
            />
          </select>
          {canChange && zoneOfBrowser !== timezone && (
            <button type="button" class="button" disabled={busy} onClick={() => set(zoneOfBrowser)}>
              Use {timeZoneText(zoneOfBrowser)}, as on this device
            </button>
          )}
        </span>
        <p class="hint" id={`${id}-hint`}>
          Of every day and time in the console, of schedules, and of new rules unless you choose another. A rule keeps
          the time zone that it was saved with: changing it here moves no rule of a printed code.
          {!isLive && ' Switch to live mode to change it.'}
        </p>
      </dd>
    </div>
  );
}
