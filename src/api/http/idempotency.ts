import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Caller } from '../../accounts/admission.ts';
import { invalid, Refusal } from '../../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../../lib/sql.ts';
import { type ApiResponse, refusalResponse } from './responses.ts';

export const idempotencyHeader = {
  'Idempotency-Key':
    '1 to 255 printable ASCII characters. For 24 hours, a request with the same key and body gets the first response again, byte for byte.',
};

interface KeyedRequest {
  caller: Caller;
  headers: Headers;
  /** What the key is bound to: the same key with any other request is refused. */
  request: unknown;
  now: Date;
}

/** The response to a request, and what commits its transaction. */
interface Performed {
  response: ApiResponse;
  commit(): Promise<unknown>;
}

interface IdempotentRequest extends KeyedRequest {
  perform(tx: Transaction): Promise<Performed>;
}

/**
 * Performs a request in one transaction, which also stores the response if the request has an Idempotency-Key.
 * A concurrent duplicate waits until the first request has committed, then gets the stored response.
 */
export async function performOnce(
  sql: Sql,
  { caller, headers, request, now, perform }: IdempotentRequest,
): Promise<ApiResponse> {
  const key = headers.get('idempotency-key');
  if (key === null)
    return sql.begin(async (tx) => {
      const { response, commit } = await perform(tx);
      await commit();
      return response;
    });
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalid([
      { field: 'Idempotency-Key', message: 'Idempotency-Key must have 1 to 255 printable ASCII characters.' },
    ]);
  const hash = hashOf(request);
  const { account, mode } = caller;

  return sql.begin(async (tx) => {
    const [first] = await tx`
      INSERT INTO idempotency_keys AS k (account, mode, key, request_hash, created_at)
      VALUES (${account}, ${mode}, ${key}, ${hash}, ${now})
      ON CONFLICT (account, mode, key) DO UPDATE
        SET request_hash = excluded.request_hash, status = NULL, body = NULL, deflated_body = NULL,
          created_at = excluded.created_at
        WHERE k.created_at <= excluded.created_at - interval '24 hours'
      RETURNING 1`;
    if (first === undefined) {
      const [stored] = await tx<[Stored]>`
        SELECT request_hash, status, body, deflated_body FROM idempotency_keys
        WHERE account = ${account} AND mode = ${mode} AND key = ${key}`;
      return repeat(stored, hash);
    }
    const { response, commit } = await perform(tx).catch((error) => {
      // A refusal that depends on stored state, such as the quota, is stored like any other response.
      if (error instanceof Refusal) return { response: refusalResponse(error), commit: undefined };
      throw error;
    });
    const { body, deflated } = await compress(response.body);
    await tx`
      UPDATE idempotency_keys SET status = ${response.status}, body = ${body}, deflated_body = ${deflated}
      WHERE account = ${account} AND mode = ${mode} AND key = ${key}`;
    await commit?.();
    return response;
  });
}

/**
 * The stored response to a request whose Idempotency-Key was used before. For operations that read what may have changed
 * since, before they call `performOnce`.
 */
export async function findPerformed(
  sql: Queryable,
  { caller: { account, mode }, headers, request, now }: KeyedRequest,
): Promise<ApiResponse | undefined> {
  const key = headers.get('idempotency-key');
  if (key === null) return undefined;
  const [stored] = await sql<Stored[]>`
    SELECT request_hash, status, body, deflated_body FROM idempotency_keys
    WHERE account = ${account} AND mode = ${mode} AND key = ${key}
      AND created_at > ${now}::timestamptz - interval '24 hours'`;
  return stored && repeat(stored, hashOf(request));
}

const hashOf = (request: unknown) => createHash('sha256').update(JSON.stringify(request)).digest('base64url');

async function repeat(stored: Stored, hash: string): Promise<ApiResponse> {
  if (stored.request_hash !== hash)
    throw new Refusal(
      'idempotency_conflict',
      'This Idempotency-Key was already used with a different request: use a new key.',
    );
  return { status: stored.status, body: await decompress(stored), headers: { 'idempotent-replayed': 'true' } };
}

interface Stored {
  request_hash: string;
  status: number;
  body: string | null;
  deflated_body: Buffer | null;
}

/** Compression saves little on shorter responses, such as the response to a single create. */
const minDeflateBytes = 2_048;

/** Bulk responses reach 1 MB. Postgres' own compression gives up on their random ids and URLs; deflate halves them. */
async function compress(body: ApiResponse['body']): Promise<{ body: string | null; deflated: Buffer | null }> {
  const bytes = Buffer.from(body);
  if (bytes.byteLength < minDeflateBytes) return { body: bytes.toString(), deflated: null };
  return { body: null, deflated: await promisify(deflateRaw)(bytes) };
}

async function decompress({ body, deflated_body }: Stored): Promise<string> {
  return deflated_body === null ? (body ?? '') : (await promisify(inflateRaw)(deflated_body)).toString();
}
