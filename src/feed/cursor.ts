import { type Owner, ownerKey } from '../../events/owner.ts';
import { Sealer } from '../lib/sealed-text.ts';
import type { Queryable } from '../lib/sql.ts';

/** A restore of a backup: up to `after` the log is the one that was backed up. */
interface Branch {
  branch: number;
  after: number;
}

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

  /** `branches` are all restores that this log has been through. */
  constructor(key: Uint8Array, branch: number, branches: Branch[]) {
    this.#sealer = new Sealer(key, 'cursor', cursorVersion);
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

/** Reads what cursors depend on. It does not change while a service runs: a restore needs an empty database. */
export async function loadCursors(sql: Queryable): Promise<Cursors> {
  const [row] = await sql<[{ key: string; branch: number }]>`
    SELECT encode((SELECT value FROM secrets WHERE name = 'event_cursor'), 'hex') AS key,
      coalesce((SELECT ('x' || encode(value, 'hex'))::bit(32)::int FROM secrets WHERE name = 'branch'), 0) AS branch`;
  const branches = await sql<Branch[]>`
    SELECT branch, after FROM log_branches ORDER BY number NULLS FIRST, after, branch`;
  return new Cursors(Buffer.from(row.key, 'hex'), row.branch, branches);
}
