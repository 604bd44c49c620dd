import { type Owner, ownerKey } from '../../events/owner.ts';
import { Sealer } from '../lib/sealed-text.ts';
import type { Queryable } from '../lib/sql.ts';
import { movedPosition, movesOf } from '../log/account-moves.ts';
import { type Branch, type CursorSource, readCursorSource } from '../log/cursor-source.ts';

const cursorVersion = 1;
const plainBytes = 10;

/**
 * Converts log positions to cursors and back. A cursor is the position, sealed for one account and mode: it does not reveal how
 * many events the service has, and works on every instance, also after a restore.
 */
export class Cursors {
  readonly #sealer: Sealer;
  readonly #branch: number;
  readonly #branches: Branch[];

  constructor({ keys, branch, branches }: CursorSource) {
    this.#sealer = new Sealer(keys, cursorVersion);
    this.#branch = branch;
    this.#branches = branches;
  }

  seal(owner: Owner, position: number): string {
    const plain = Buffer.alloc(plainBytes);
    plain.writeUInt32BE(this.#branch, 0);
    plain.writeUIntBE(position, 4, 6);
    return this.#sealer.seal(ownerKey(owner), plain);
  }

  /** The position of a cursor; undefined if it is not one that this service has issued to the owner. */
  open(owner: Owner, cursor: string): number | undefined {
    const plain = this.#sealer.open(ownerKey(owner), cursor);
    return plain?.length === plainBytes ? this.#inThisLog(plain.readUInt32BE(0), plain.readUIntBE(4, 6)) : undefined;
  }

  /** The position up to which the log of `branch` and this one have the same events, at most `position`. */
  #inThisLog(branch: number, position: number): number {
    if (branch === this.#branch) return position;
    const index = this.#branches.findIndex((known) => known.branch === branch);
    // The restores after the cursor was issued. Without the branch of the cursor, all of them: events may be repeated.
    const later = this.#branches.slice(index + 1);
    return Math.min(position, ...later.map(({ after }) => after));
  }
}

export const loadCursors = async (sql: Queryable): Promise<Cursors> => new Cursors(await readCursorSource(sql));

/**
 * Like `Cursors.open`, also for cursors that the owner got from an instance before the account was moved. An account can have
 * been in a log more than once: the cursor is of the last stay that began before its position.
 */
export async function openCursor(
  sql: Queryable,
  cursors: Cursors,
  owner: Owner,
  cursor: string,
): Promise<number | undefined> {
  const moves = await movesOf(sql, owner.account);
  const last = moves.at(-1);
  if (last === undefined) return cursors.open(owner, cursor);
  const here = cursors.open(owner, cursor);
  if (here !== undefined && here > last.after) return here;
  for (const move of moves.toReversed()) {
    const position = new Cursors(move.cursors).open(owner, cursor);
    const before = moves.findLast(({ number }) => number < move.number);
    if (position === undefined || position <= (before?.after ?? -1)) continue;
    return movedPosition(sql, owner.account, { number: move.number, to: last.number }, position);
  }
  return here;
}
