import type { Static } from '@sinclair/typebox';
import { normalizeTag } from '../../../events/tags.ts';
import { maxTagLength } from '../../../events/targeting/targeting-words.ts';
import type { WebhookSettings } from '../../../events/webhooks/webhook.ts';
import { webhookEventTypes } from '../../../events/webhooks/webhook-events.ts';
import type { Caller } from '../../accounts/admission.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Sql } from '../../lib/sql.ts';
import type { SubscriptionChange } from './webhooks-schemas.ts';

type Given = Static<typeof SubscriptionChange>;

/** Validates what the schema cannot, and returns the settings as they are stored. */
export async function readSettings(sql: Sql, caller: Caller, given: Given): Promise<Partial<WebhookSettings>> {
  const errors: FieldError[] = [];
  const { url, description, active } = given;
  if (description !== undefined && (/\p{Cc}/u.test(description) || !description.isWellFormed()))
    errors.push({ field: 'description', message: 'description must not contain control characters.' });
  const tags = given.tags === undefined ? undefined : readTags(given.tags, errors);
  const qr_ids = given.qr_ids === undefined ? undefined : await readCodes(sql, caller, given.qr_ids, errors);
  const [first, ...others] = errors;
  if (first !== undefined) throw invalid([first, ...others]);
  // In a fixed order, so that another order is not a change.
  const events = given.events && webhookEventTypes.filter((type) => given.events?.includes(type));
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events }),
    ...(qr_ids === undefined ? {} : { qr_ids }),
    ...(tags === undefined ? {} : { tags }),
    ...(description === undefined ? {} : { description: description.trim() }),
    ...(active === undefined ? {} : { active }),
  };
}

function readTags(given: string[] | null, errors: FieldError[]): string[] | null {
  const tags = [...new Set((given ?? []).map(normalizeTag))];
  for (const [i, tag] of tags.entries())
    if (tag === '' || [...tag].length > maxTagLength || /\p{Cc}/u.test(tag) || !tag.isWellFormed())
      errors.push({ field: `tags[${i}]`, message: `tags[${i}] must have 1 to ${maxTagLength} characters.` });
  return tags.length === 0 ? null : tags;
}

async function readCodes(
  sql: Sql,
  { account, mode }: Caller,
  given: string[] | null,
  errors: FieldError[],
): Promise<string[] | null> {
  const ids = [...new Set(given ?? [])];
  if (ids.length === 0) return null;
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM codes
    WHERE id = ANY(${ids.filter((id) => isId('qr', id))}) AND account = ${account} AND mode = ${mode} AND status <> 'deleted'`;
  const known = new Set(rows.map(({ id }) => id));
  for (const [i, id] of ids.entries())
    if (!known.has(id)) errors.push({ field: `qr_ids[${i}]`, message: `qr_ids[${i}] is not a code of this account.` });
  return ids;
}
