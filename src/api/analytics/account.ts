import { type Static, Type as t } from '@sinclair/typebox';
import type { Owner } from '../../../events/owner.ts';
import type { Selection } from '../../analytics/selection.ts';
import { deletedCodesInTable, type TableInUse } from '../../analytics/table-in-use.ts';
import { codeNotFound, codesWith, codesWithIds, type ListedCode } from '../../codes/codes.ts';
import { domainIn, domainQuery } from '../qrcodes/domain-query.ts';
import { tagFilterOf, tagQuery } from '../qrcodes/targeting-schemas.ts';
import type { Service } from '../service.ts';
import { analyticsQuery, filtersOf } from './filters.ts';
import type { Period } from './period.ts';

export const maxSelectedCodes = 100;

/** Query parameters of every analytics read over the codes of an account. */
export const accountQuery = {
  ...analyticsQuery,
  qr_id: t.Optional(
    t.Array(t.String(), {
      minItems: 1,
      maxItems: maxSelectedCodes,
      description: `Only these codes: repeat the parameter for each, up to ${maxSelectedCodes} times. Default: all codes.`,
      examples: [['qr_0VMNcq2hE3kx0dTtWq8LbY']],
      'x-expected': `the id of a code, given at most ${maxSelectedCodes} times`,
    }),
  ),
  ...tagQuery,
  ...domainQuery,
};

export type AccountQuery = Static<ReturnType<typeof t.Object<typeof accountQuery>>>;

/**
 * The codes that a query names by id, tag and domain; undefined when it names none. Throws 404 for a code that the
 * account does not have.
 */
export async function selectedCodes(
  service: Service,
  owner: Owner,
  query: AccountQuery,
): Promise<ListedCode[] | undefined> {
  const tags = tagFilterOf(query);
  const domain = domainIn(query);
  const matching =
    tags === undefined && domain === undefined ? undefined : await codesWith(service.sql, owner, { tags, domain });
  const named = query.qr_id && (await codesNamed(service, owner, query.qr_id));
  if (named === undefined || matching === undefined) return named ?? matching;
  const ids = new Set(matching.map(({ id }) => id));
  return named.filter(({ id }) => ids.has(id));
}

async function codesNamed({ sql }: Service, owner: Owner, qr_id: string[]): Promise<ListedCode[]> {
  const ids = [...new Set(qr_id)];
  const found = await codesWithIds(sql, owner, ids);
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw await codeNotFound(sql, owner, missing);
  return [...found.values()];
}

/** Selects the scans of these codes, or of all codes of the owner that are not deleted. */
export async function scansOfAccount(
  { sql }: Service,
  owner: Owner,
  table: TableInUse,
  { codes, period, query }: { codes: ListedCode[] | undefined; period: Period; query: AccountQuery },
): Promise<Selection> {
  const { account, mode } = owner;
  const selected =
    codes === undefined
      ? { without: await deletedCodesInTable(sql, table, owner) }
      : { among: codes.map(({ id }) => id) };
  return { account, mode, codes: selected, ...period, ...filtersOf(query) };
}
