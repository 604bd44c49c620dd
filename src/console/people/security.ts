import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { type Operation, operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import { exact, orNull } from '../../api/http/schemas.ts';
import { byOf, type ListedChange, listChanges } from '../../people/security-changes.ts';
import { securityChanges } from '../../people/security-kinds.ts';
import type { Console } from '../context.ts';
import { requireUser } from './me.ts';

export const OwnSecurityChange = t.Object(
  {
    number: t.Integer(),
    change: oneOf(securityChanges),
    /** The name of a passkey, the host of a provider, the new address, or a number of sessions. */
    detail: orNull(t.String()),
    by: oneOf(['you', 'operator']),
    device: orNull(t.String()),
    browser: orNull(t.String()),
    changed_at: t.String({ format: 'date-time' }),
  },
  exact,
);
const OwnSecurityChanges = t.Object({ data: t.Array(OwnSecurityChange) }, exact);

/** What changed about how the person signs in. */
export const listSecurityChanges = ({ service: { sql } }: Console): Operation =>
  operation({
    operationId: 'listSecurityChanges',
    method: 'GET',
    path: '/v1/me/security-changes',
    tag: 'Account',
    summary: 'List what changed about how the person signs in',
    description: 'For the console only, and only for people. The newest 200 changes of the last year.',
    success: { status: 200, description: 'The changes, newest first.', schema: OwnSecurityChanges },
    errors: ['not_found'],
    async handle({ caller }) {
      const { id } = await requireUser(sql, caller);
      const changes = await listChanges(sql, id);
      return json(200, { data: changes.map((change) => present(change, id)) });
    },
  });

const present = ({ actor, changed_at, ...change }: ListedChange, user: string): Static<typeof OwnSecurityChange> => ({
  ...change,
  by: byOf(actor, user),
  changed_at: changed_at.toISOString(),
});
