import { useState } from 'preact/hooks';
import { api } from './api.ts';
import { toast } from './parts/toast.tsx';
import { useAction } from './parts/use-action.ts';
import { may } from './permissions.tsx';
import type { Mode } from './router.ts';
import { deviceTimeZone, timeZoneText } from './time-zones.ts';
import type { Account } from './types.ts';
import { accountTimeZone, bootstrap, setAccountTimeZone } from './welcome.ts';

/**
 * Offers the time zone of the browser for an account that has never chosen one. The answer is stored in the account, so that
 * no one is asked again. Test keys cannot change the account, and a browser in UTC has nothing to offer.
 */
export function ZoneQuestion({ mode }: { mode: Mode }) {
  const [offered] = useState(deviceTimeZone);
  const [isOpen, setIsOpen] = useState(bootstrap.asks_time_zone);
  const { busy, run } = useAction();
  const current = accountTimeZone();
  if (!isOpen || mode !== 'live' || offered === current || !may('account.write')) return null;
  const choose = (timezone: string) =>
    run(async () => {
      const account = await api.patch<Account>('/account', { timezone });
      setAccountTimeZone(account.timezone);
      setIsOpen(false);
      toast(`Days and times are in ${timeZoneText(account.timezone)}. You can change it under Account.`);
    });
  return (
    <section class="row gap-m question" aria-label="Time zone">
      <p>
        Show days and times in <strong>{timeZoneText(offered)}</strong>, as on this device? Schedules and new rules
        begin in it, too.
      </p>
      <span class="row">
        <button type="button" class="button primary" disabled={busy} onClick={() => choose(offered)}>
          Use {timeZoneText(offered)}
        </button>
        <button type="button" class="button" disabled={busy} onClick={() => choose(current)}>
          Keep {timeZoneText(current)}
        </button>
      </span>
    </section>
  );
}
