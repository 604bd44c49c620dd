import { Allowed } from '../permissions.tsx';
import { pageUrl } from '../router.ts';
import { timeZoneText } from '../time-zones.ts';
import { accountTimeZone } from '../welcome.ts';

/** Says which time zone the times of a page are in; once on each page that has some. */
export const ZoneNote = () => (
  <p class="hint zone-note">
    Times are in {timeZoneText(accountTimeZone())}
    <Allowed scope="account.write">
      <span class="on-screen">
        {' '}
        (<a href={pageUrl('/account')}>change</a>)
      </span>
    </Allowed>
    .
  </p>
);
