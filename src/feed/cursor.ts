import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type Owner, ownerKey } from '../../events/owner.ts';
import type { Queryable } from '../lib/sql.ts';

/** A restore of a backup: up to `after` the log is the one that was backed up. */
interface Branch {
  branch: number;
  after: number;
}

const cursorVersion = 1;
const macBytes = 16;
const plainBytes = 10;
const cursorPattern = /^[\w-]{36}$/;

/**
 * Converts log positions to cursors and back. A cursor is the position, encrypted and authenticated for one account and
 * mode: it does not reveal how many events the service has, and works on every instance, also after a restore.
 *
 * The encryption is deterministic (the authentication code is the initialization vector, as in SIV), since the number of
 * cursors is not bounded, as random vectors of AES-GCM would need it.
 */
export class Cursors {
  readonly #macKey: Buffer;
  readonly #cipherKey: Buffer;
  readonly #branch: number;
  readonly #branches: Branch[];

  /** `branches` are all restores that this log has been through. */
  constructor(key: Uint8Array, branch: number, branches: Branch[]) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', key, 'scanlog', purpose, 32));
    this.#macKey = derive('cursor authentication');
    this.#cipherKey = derive('cursor encryption');
    this.#branch = branch;
    this.#branches = branches;
  }

  seal(owner: Owner, position: number): string {
    const plain = Buffer.alloc(plainBytes);
    plain.writeUInt32BE(this.#branch, 0);
    plain.writeUIntBE(position, 4, 6);
    const mac = this.#macOf(owner, plain);
    const encrypted = createCipheriv('aes-256-ctr', this.#cipherKey, mac).update(plain);
    return Buffer.concat([Buffer.of(cursorVersion), mac, encrypted]).toString('base64url');
  }

  /** The position of a cursor; undefined if it is not one that this service has issued to the owner. */
  open(owner: Owner, cursor: string): number | undefined {
    if (!cursorPattern.test(cursor)) return undefined;
    const bytes = Buffer.from(cursor, 'base64url');
    if (bytes[0] !== cursorVersion) return undefined;
    const mac = bytes.subarray(1, 1 + macBytes);
    const plain = createDecipheriv('aes-256-ctr', this.#cipherKey, mac).update(bytes.subarray(1 + macBytes));
    if (!timingSafeEqual(this.#macOf(owner, plain), mac)) return undefined;
    return this.#inThisLog(plain.readUInt32BE(0), plain.readUIntBE(4, 6));
  }

  /** The position up to which the log of `branch` and this one have the same events, at most `position`. */
  #inThisLog(branch: number, position: number): number {
    if (branch === this.#branch) return position;
    const index = this.#branches.findIndex((known) => known.branch === branch);
    // The restores after the cursor was issued. Without the branch of the cursor, all of them: events may be repeated.
    const later = this.#branches.slice(index + 1);
    return Math.min(position, ...later.map(({ after }) => after));
  }

  #macOf(owner: Owner, plain: Uint8Array): Buffer {
    const context = `${cursorVersion}/${ownerKey(owner)}/`;
    return createHmac('sha256', this.#macKey).update(context).update(plain).digest().subarray(0, macBytes);
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
