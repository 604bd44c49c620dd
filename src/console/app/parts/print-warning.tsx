import { reachOf } from '../../../lib/private-host.ts';
import { Icon } from '../icons.tsx';

/** Warns that a printed code would lead nowhere, while short links have an address that phones cannot reach. */
export function PrintWarning({ url }: { url: string }) {
  const { host, hostname } = new URL(url);
  const reach = reachOf(hostname);
  if (reach === 'anywhere') return null;
  return (
    <p class="row nowrap verdict bad print-warning" role="note">
      <Icon name="warning" />
      <span>
        <strong>Do not print yet:</strong> short links begin with {host}, which works only{' '}
        {reach === 'computer' ? 'on the computer that runs Scanlog' : 'in your own network'}. Set{' '}
        <code>PUBLIC_URL</code> (or <code>SHORT_BASE_URL</code>, for short links alone) to an address that phones can
        reach. The images of all codes then change.
      </span>
    </p>
  );
}
