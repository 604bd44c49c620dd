import type { Static } from '@sinclair/typebox';
import type { BulkChange } from '../../../events/bulk-change.ts';
import { differenceOf } from '../../../events/code-change.ts';
import { problemWithDestination } from '../../../events/fields.ts';
import { readFields } from '../../../events/read-fields.ts';
import { normalizeTag } from '../../../events/tags.ts';
import type { Caller } from '../../accounts/admission.ts';
import { refuseBlocked, urlsOf } from '../../codes/blocked-hosts.ts';
import { maxUpdatedCodes, updateMany } from '../../codes/bulk-update.ts';
import { codesWithIds, findIds } from '../../codes/codes.ts';
import { searchOf } from '../../codes/search.ts';
import { type FieldError, invalid, Refusal } from '../../lib/errors.ts';
import { LimitPerKey } from '../../lib/limit-per-key.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { BulkUpdateRequest, BulkUpdateResponse } from './bulk-update-schemas.ts';

/** Each reads and writes up to 1,000 codes, also after its client has left. */
const maxRunning = 1;

const updateRunning = () =>
  new Refusal('conflict', 'Another bulk update of the account is running: try again when it has ended.', undefined, {
    'retry-after': '5',
  });

/** The operation that changes many codes at once. */
export const bulkUpdateQrCodes = (service: Service): Operation => {
  const { sql, clock, addresses, onChange } = service;
  const accounts = new LimitPerKey(maxRunning, updateRunning);
  return operation({
    operationId: 'updateQrCodes',
    method: 'POST',
    path: '/v1/qrcodes/bulk-update',
    tag: 'QR codes',
    summary: 'Update many QR codes',
    description: [
      'Changes up to 1,000 codes of the mode of the key, chosen by `qr_ids`, `tag` or `q`: the same values for all of them (`set`), a text replaced in their URLs (`replace`), tags added and removed (`tags`). Send `dry_run` to see every change before it is made.',
      'All or nothing: every code is checked before the first is changed, and if one cannot have its new values, nothing is changed and `details` says which and why. The changes are stored in steps, so that other requests do not wait; if a step fails, the steps before it are undone.',
      '`undo` in the response is the body of the `POST /v1/account/revert` that undoes the whole update. An account can have one bulk update running at an instance; a further one answers 409.',
    ].join('\n\n'),
    body: BulkUpdateRequest,
    success: { status: 200, description: 'What changed, or would change.', schema: BulkUpdateResponse },
    errors: ['invalid_request', 'destination_blocked', 'not_found', 'conflict'],
    answerWithinMs: timeouts.revertMs,
    async handle({ caller, body, signal }) {
      const change = readBulkChange(body, addresses.ownUrls);
      await refuseBlocked(sql, urlsOf(change.set));
      const isDryRun = body.dry_run ?? false;
      const by = { actor: caller.actor, now: clock() };
      const update = { change, isDryRun, signal, ownUrls: addresses.ownUrls, onRecorded: onChange, now: clock };
      const { changed, skipped } = await accounts.run(caller.account, async () =>
        updateMany(sql, caller, await selectIds(service, caller, body), update, by),
      );
      const at = by.now.toISOString();
      const response: Static<typeof BulkUpdateResponse> = {
        changed: changed.length,
        data: changed.map(({ qr_id, name, events }) => ({
          qr_id,
          name,
          changes: events.map(differenceOf).map(({ field, from, to }) => ({ field: field ?? '', from, to })),
        })),
        skipped,
        undo: isDryRun || changed.length === 0 ? null : { actor: caller.actor, from: at, to: at },
      };
      return json(200, response);
    },
  });
};

/** Validates what all codes get; throws 400 with every error in it. */
function readBulkChange(body: Static<typeof BulkUpdateRequest>, ownUrls: string[]): BulkChange {
  const { set: { destination_url, active, ...optional } = {}, replace, tags } = body;
  const errors: FieldError[] = [];
  const add = (field: string, problem: string) => errors.push({ field, message: `${field} ${problem}.` });
  if ([body.qr_ids, body.tag, body.q].filter((given) => given !== undefined).length !== 1)
    errors.push({ field: 'qr_ids', message: 'Exactly one of qr_ids, tag and q is required.' });
  const problem = destination_url === undefined ? undefined : problemWithDestination(destination_url, ...ownUrls);
  if (problem !== undefined) add('set.destination_url', problem);
  const { change, problems } = readFields(optional, ownUrls);
  for (const { field, problem } of problems) add(`set.${field}`, problem);
  const [added, removed] = [readTags('tags.add', tags?.add), readTags('tags.remove', tags?.remove)];
  errors.push(...added.errors, ...removed.errors);
  if (body.set === undefined && replace === undefined && tags === undefined)
    errors.push({ field: 'body', message: 'At least one of set, replace and tags is required.' });
  if (replace !== undefined && (destination_url !== undefined || change.fallback_url !== undefined))
    add('replace', 'cannot be combined with set.destination_url or set.fallback_url');
  if (tags !== undefined && change.tags !== undefined) add('tags', 'cannot be combined with set.tags');
  const [first, ...more] = errors;
  if (first !== undefined) throw invalid([first, ...more]);
  return {
    set: {
      ...change,
      ...(destination_url === undefined ? {} : { destination_url }),
      ...(active === undefined ? {} : { active }),
    },
    ...(replace === undefined ? {} : { replace }),
    ...(tags === undefined ? {} : { tags: { add: added.tags, remove: removed.tags } }),
  };
}

function readTags(field: string, given: string[] = []): { tags: string[]; errors: FieldError[] } {
  const { change, problems } = readFields({ tags: given }, []);
  const errors = problems.map(({ field: place, problem }) => {
    const name = place.replace('tags', field);
    return { field: name, message: `${name} ${problem}.` };
  });
  return { tags: change.tags ?? [], errors };
}

/** The ids of the codes that a request is about. Throws 404 with the index of every id that does not exist. */
async function selectIds(
  { sql, addresses }: Service,
  caller: Caller,
  { qr_ids, tag, q }: Static<typeof BulkUpdateRequest>,
): Promise<string[]> {
  if (qr_ids !== undefined) {
    const found = await codesWithIds(sql, caller, qr_ids);
    const missing = qr_ids.flatMap((id, index) =>
      found.has(id) ? [] : [{ index, field: 'qr_ids', message: `There is no QR code ${id} in this account and mode.` }],
    );
    const [first] = missing;
    if (first === undefined) return [...found.keys()];
    throw new Refusal('not_found', `qr_ids[${first.index}]: ${first.message}`, missing.slice(0, 20));
  }
  const filters =
    tag === undefined
      ? { search: searchOf(q ?? '', addresses.shortBaseUrl) }
      : { tags: { tags: [normalizeTag(tag)], match: 'any' as const } };
  const ids = await findIds(sql, caller, filters, maxUpdatedCodes + 1);
  if (ids.length <= maxUpdatedCodes) return ids;
  const field = tag === undefined ? 'q' : 'tag';
  const limit = maxUpdatedCodes.toLocaleString('en');
  throw invalid([{ field, message: `${field} matches more than ${limit} codes, the maximum of one update.` }]);
}
