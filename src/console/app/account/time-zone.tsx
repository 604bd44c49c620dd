import { useId } from 'preact/hooks';
import { api } from '../api.ts';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { currentMode } from '../router.ts';
import type { Account } from '../types.ts';
import { bootstrap } from '../welcome.ts';

const zones = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];
const zoneOfBrowser = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zone of the account, which can be chosen in live mode. */
export function TimeZone({ timezone, onChange }: { timezone: string; onChange(): Promise<void> }) {
  const id = useId();
  const { busy, run } = useAction();
  const set = (next: string) =>
    run(async () => {
      const account = await api.patch<Account>('/account', { timezone: next });
      bootstrap.account.timezone = account.timezone;
      await onChange();
      toast(`Days are now in ${account.timezone}`);
    });
  const isLive = currentMode() === 'live';
  return (
    <div>
      <dt>
        <label for={id}>Time zone</label>
      </dt>
      <dd>
        <span class="actions">
          <select
            id={id}
            value={timezone}
            disabled={busy || !isLive}
            aria-describedby={`${id}-hint`}
            onChange={(event) => set(event.currentTarget.value)}
          >
            {(zones.includes(timezone) ? zones : [timezone, ...zones]).map((zone) => (
              <option key={zone} value={zone}>
                {zone.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
          {isLive && zoneOfBrowser !== timezone && (
            <button type="button" class="button" disabled={busy} onClick={() => set(zoneOfBrowser)}>
              Use {zoneOfBrowser.replaceAll('_', ' ')}, as on this device
            </button>
          )}
        </span>
        <p class="hint" id={`${id}-hint`}>
          Of the days and hours in analytics, and of new rules that name no other.
          {!isLive && ' Switch to live mode to change it.'}
        </p>
      </dd>
    </div>
  );
}
