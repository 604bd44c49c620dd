import { Sessions } from '../account/sessions.tsx';
import { date } from '../format.ts';
import { Heading } from '../parts/heading.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { useResource } from '../resource.ts';
import type { Me } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { OwnData } from './own-data.tsx';
import { Passkeys } from './passkeys.tsx';
import { PasswordForm } from './password.tsx';
import { Profile } from './profile.tsx';
import { Security } from './security.tsx';
import { Totp } from './totp.tsx';

/** The person of the session, in all accounts: name, ways to sign in and what changed about them, sessions and data. */
export function YouPage() {
  const me = useResource<Me>(bootstrap.user === null ? undefined : '/me');
  if (bootstrap.user === null)
    return (
      <Empty title="No person is signed in">
        <p>You are signed in with an API key. An owner can invite you under Account, Members.</p>
      </Empty>
    );
  return (
    <>
      <Heading title="You" lead={me.data === undefined ? undefined : `Since ${date(me.data.created_at)}`} />
      {me.data === undefined ? (
        <Loading error={me.error} retry={me.reload} lines={5} />
      ) : (
        <>
          <div class="grid columns-l you">
            <Profile me={me.data} onChange={me.reload} />
            <PasswordForm me={me.data} onChange={me.reload} />
            <Passkeys me={me.data} onChange={me.reload} />
            <Totp me={me.data} onChange={me.reload} />
          </div>
          <h2 class="you-part">Sessions</h2>
          <Sessions />
          <h2 class="you-part">Security history</h2>
          <Security />
          <OwnData me={me.data} />
          <ZoneNote />
        </>
      )}
    </>
  );
}
