import { Type as t } from '@sinclair/typebox';
import { type Owner, ownerKey } from '../../../events/owner.ts';
import type { Listing } from '../../codes/codes.ts';
import type { ListPosition } from '../../codes/list-order.ts';
import { invalid } from '../../lib/errors.ts';
import { Sealer, sealerKeys } from '../../lib/sealed-text.ts';
import type { Queryable } from '../../lib/sql.ts';

/** A cursor contains the value that the list is sorted by, such as a name of 255 characters, each up to four bytes. */
const maxCursorLength = 12_000;
const cursorVersion = 1;

/** The query parameter of a list that can be read after a cursor. */
export const afterQuery = {
  after: t.Optional(
    t.String({
      minLength: 1,
      maxLength: maxCursorLength,
      description:
        'Only what comes after this cursor, which is `next` of an earlier response to the same request. It excludes `page`; `limit` can differ. The response has no `pagination`, since nothing is counted.',
      'x-excludes': 'page',
    }),
  ),
};

/** Which list a cursor belongs to: its order, its time and its filters. */
export interface List {
  owner: Owner;
  listing: Listing;
  asOf: Date | undefined;
}

/** Converts positions of lists to cursors and back. A cursor is of use only to its owner, and for the same list. */
export interface ListCursors {
  /** The position of a cursor; throws 400 for a cursor that is not of this list. */
  open(list: List, cursor: string): Promise<ListPosition>;
  seal(list: List, position: ListPosition | null): Promise<string | null>;
}

/** Reads the key of cursors at the first use. It does not change while a service runs. */
export function listCursors(sql: Queryable): ListCursors {
  let loading: Promise<Sealer> | undefined;
  const load = () => {
    loading ??= loadSealer(sql).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    async open(list, cursor) {
      const plain = (await load()).open(contextOf(list), cursor);
      if (plain !== undefined) return JSON.parse(plain.toString());
      const message = 'after must be `next` of a response to this key with the same filters, `sort` and `as_of`.';
      throw invalid([{ field: 'after', message }]);
    },
    async seal(list, position) {
      return position === null ? null : (await load()).seal(contextOf(list), Buffer.from(JSON.stringify(position)));
    },
  };
}

async function loadSealer(sql: Queryable): Promise<Sealer> {
  const [row] = await sql<[{ key: string }]>`
    SELECT encode(value, 'hex') AS key FROM secrets WHERE name = 'event_cursor'`;
  return new Sealer(sealerKeys(Buffer.from(row.key, 'hex'), 'list cursor'), cursorVersion);
}

function contextOf({ owner, listing, asOf }: List): string {
  const { order = '-created_at', status, search, shortCode, availability, tags } = listing;
  return JSON.stringify([ownerKey(owner), order, asOf, status, search, shortCode, availability?.wanted, tags]);
}
