import { type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { modes, plans } from '../../../events/plans.ts';
import { orNull } from '../../api/http/schemas.ts';
import { signups } from '../../config/settings.ts';

/** Schemas of the operator's console, for its pages. */

const time = t.String({ format: 'date-time' });
const count = t.Integer({ minimum: 0 });
const text = t.String();

/** A page of a list; `next` is sent as `after` for what follows. */
export const pageOf = <S extends TSchema>(item: S) => t.Object({ data: t.Array(item), next: orNull(text) });

const disabled = orNull(t.Object({ reason: text, at: time }));

export const ListedAccount = t.Object({
  id: text,
  name: text,
  plan: oneOf(plans),
  created_at: time,
  suspended: disabled,
  live_codes: count,
  test_codes: count,
  members: count,
  domains: count,
});

const Member = t.Object({
  id: text,
  name: text,
  email: text,
  role: text,
  joined_at: time,
  last_signed_in_at: orNull(time),
  is_disabled: t.Boolean(),
});

const Key = t.Object({
  id: text,
  name: text,
  mode: oneOf(modes),
  last4: text,
  created_at: time,
  last_used_at: orNull(time),
  unused: t.Boolean(),
  expires_at: orNull(time),
});

export const AnyAccount = t.Object({
  account: ListedAccount,
  /** Null where the plan has no limit. */
  limits: t.Object({ qr_codes: orNull(count), domains: count, requests_per_minute: count }),
  members: t.Array(Member),
  keys: t.Array(Key),
});

export const AccountScans = t.Object({ scans: count, days: count });

export const ListedCode = t.Object({
  id: text,
  name: text,
  mode: oneOf(modes),
  short_url: text,
  destination_url: text,
  status: text,
  created_at: time,
  disabled,
  account: t.Object({ id: text, name: text, is_suspended: t.Boolean() }),
});

export const BlockedHost = t.Object({ host: text, blocked_at: time });

export const ListedUser = t.Object({
  id: text,
  name: text,
  email: text,
  is_operator: t.Boolean(),
  is_disabled: t.Boolean(),
  is_you: t.Boolean(),
  has_password: t.Boolean(),
  created_at: time,
  last_signed_in_at: orNull(time),
  accounts: t.Array(t.Object({ id: text, name: text, role: text })),
});

/** `is_mailed`: the person gets the link by mail, too. */
export const ResetLink = t.Object({ url: text, expires_at: time, is_mailed: t.Boolean() });

export const SignUp = t.Object({ sign_up: oneOf(signups), plan: oneOf(plans) });

export const OperatorAction = t.Object({
  id: text,
  at: time,
  actor: text,
  actor_name: orNull(text),
  type: text,
  subject: t.Object({ kind: oneOf(['account', 'code', 'host', 'user']), id: text, name: orNull(text) }),
  detail: orNull(text),
});

export const Health = t.Object({
  version: text,
  position: count,
  projections: t.Array(t.Object({ projection: text, position: count, lag: count })),
  instances: t.Array(
    t.Object({
      id: text,
      host: text,
      pid: count,
      version: text,
      roles: t.Array(text),
      started_at: time,
      seen_at: time,
      is_silent: t.Boolean(),
      spool: orNull(t.Object({ bytes: count, seconds: t.Number() })),
      disk: orNull(t.Object({ free: count, size: count })),
    }),
  ),
  domains: t.Object({
    active: count,
    failing: count,
    pending: count,
    problems: t.Array(
      t.Object({
        id: text,
        name: text,
        account: t.Object({ id: text, name: text }),
        checked_at: orNull(time),
        problems: t.Array(text),
      }),
    ),
  }),
  last_backup: orNull(t.Object({ finished_at: time, position: count, rows: count })),
});
