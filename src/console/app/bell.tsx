import { relativeTime } from './format.ts';
import { Icon } from './icons.tsx';
import { Menu } from './parts/menu.tsx';
import { may } from './permissions.tsx';
import { useResource } from './resource.ts';
import { pageUrl } from './router.ts';
import type { RaisedAlerts } from './types.ts';

const refreshIntervalMs = 30_000;
const maxShown = 8;
/** A larger number would not fit on the bell. */
const maxCounted = 99;

/** The page of the console that a link of an alert leads to, also if this console is reached by another address. */
export const pathOfLink = (url: string): string => URL.parse(url)?.pathname ?? pageUrl('/account/alerts');

const countText = (total: number) =>
  total === 0
    ? 'Alerts: nothing needs attention'
    : `Alerts: ${total === 1 ? '1 thing needs' : `${total} things need`} attention`;

/** What alerts have raised and is not over: how many, and the latest ones. */
export function Bell() {
  const { data } = useResource<RaisedAlerts>(may('codes.read') ? '/alerts/raised' : undefined, {
    query: { limit: maxShown },
    refreshIntervalMs,
  });
  if (!may('codes.read')) return null;
  const { data: raised = [], total = 0 } = data ?? {};
  return (
    <>
      <Menu
        label={countText(total)}
        buttonClass="button quiet square bell"
        button={
          <>
            <Icon name="bell" />
            {total > 0 && <span class="bell-count">{total > maxCounted ? `${maxCounted}+` : total}</span>}
          </>
        }
      >
        {raised.length === 0 && <p class="hint">Nothing needs your attention.</p>}
        {raised.map(({ alert_id, qr_id, domain_id, title, url, raised_at }) => (
          <a key={`${alert_id} ${qr_id ?? domain_id ?? title}`} class="button bell-item" href={pathOfLink(url)}>
            <span>
              {title}
              <span class="hint"> {relativeTime(raised_at)}</span>
            </span>
          </a>
        ))}
        <hr />
        <a class="button" href={pageUrl('/account/alerts')}>
          {total > raised.length ? `All ${total} and settings` : 'All alerts and settings'}
        </a>
      </Menu>
      <span class="hidden" role="status">
        {total > 0 && countText(total)}
      </span>
    </>
  );
}
