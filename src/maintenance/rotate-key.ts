import { operator } from '../../events/recorded.ts';
import { rotateWebhook } from '../../events/webhooks/change-webhook.ts';
import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { Webhook } from '../../events/webhooks/webhook.ts';
import { applyState } from '../../projections/state.ts';
import { insertSealed, newVisitorKey, type SealedKey } from '../codes/visitor-keys.ts';
import { StartError } from '../lib/errors.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { append } from '../log/append.ts';
import { storedFingerprint } from '../log/secret-key.ts';
import { newSigningSecret } from '../webhooks/secrets.ts';
import { refuseWhileServed } from './restore.ts';

const maxBatchSize = 1_000;

/** What is encrypted with SECRET_KEY. */
export interface Sealed {
  /** Webhooks that have a signing secret. */
  webhooks: number;
  /** Codes that have a visitor key. */
  codes: number;
  /** People who have set up one-time codes. */
  people: number;
}

export async function countSealed(sql: Queryable): Promise<Sealed> {
  const [row] = await sql<[Sealed]>`
    SELECT (SELECT count(*) FROM endpoint_secrets) AS webhooks,
      (SELECT count(*) FROM visitor_keys) + (SELECT count(*) FROM unsealed_visitor_keys) AS codes,
      (SELECT count(*) FROM user_totp) AS people`;
  return row;
}

const isKeyOf = ({ fingerprint }: SecretBox, stored: string | undefined) => fingerprint.toString('hex') === stored;

/**
 * Encrypts everything with another key, in one transaction. Does nothing if the database already has the new key, so a
 * rotation that was interrupted after its commit can be repeated.
 */
export function rotateSecretKey(sql: Sql, { from, to }: { from: SecretBox; to: SecretBox }): Promise<Sealed> {
  return inStoppedDatabase(sql, 'rotate the key', async (tx) => {
    const stored = await storedFingerprint(tx);
    if (isKeyOf(to, stored)) return countSealed(tx);
    if (stored !== undefined && !isKeyOf(from, stored))
      throw new StartError(
        'SECRET_KEY is not the key of this database: correct it, or run ./scanlog secret reset if the key is lost.',
      );
    await rewriteWebhookSecrets(tx, ({ current, previous, ...owner }) => ({
      current: to.seal(from.open(current, owner), owner),
      previous: previous === null ? null : to.seal(from.open(previous, owner), owner),
    }));
    await rewriteVisitorKeys(tx, ({ code, sealed }) => to.sealVisitorKey(from.openVisitorKey(sealed, code), code));
    await sealUnsealed(tx, ({ code, key }) => ({ code, sealed: to.sealVisitorKey(key, code) }));
    await rewriteTotpSecrets(tx, (sealed, user) => to.sealTotpSecret(from.openTotpSecret(sealed, user), user));
    await storeFingerprint(tx, to);
    return countSealed(tx);
  });
}

/** Replaces everything that was encrypted with a lost key by new secrets, encrypted with `box`, in one transaction. */
export function resetSecretKey(sql: Sql, box: SecretBox, now: Date): Promise<Sealed> {
  return inStoppedDatabase(sql, 'reset the key', async (tx) => {
    await refuseKnownKey(tx, box);
    await rewriteWebhookSecrets(tx, (owner) => ({ current: box.seal(newSigningSecret(), owner), previous: null }));
    await rewriteVisitorKeys(tx, ({ code }) => newVisitorKey(box, code).sealed);
    await sealUnsealed(tx, ({ code, key }) => ({ code, sealed: box.sealVisitorKey(key, code) }));
    // A lost secret of one-time codes is of no use: people set them up again.
    const { people } = await countSealed(tx);
    await tx`DELETE FROM user_totp`;
    await tx`DELETE FROM user_recovery_codes`;
    await storeFingerprint(tx, box);
    await recordRotations(tx, now);
    return Object.assign(await countSealed(tx), { people });
  });
}

/** Throws if `box` has the key of the database: a reset would destroy secrets that are not lost. */
export async function refuseKnownKey(sql: Queryable, box: SecretBox): Promise<void> {
  if (isKeyOf(box, await storedFingerprint(sql)))
    throw new StartError(
      'SECRET_KEY is the key of this database, so nothing is lost: to change it, use ./scanlog secret rotate.',
    );
}

async function inStoppedDatabase(sql: Sql, step: string, use: (tx: Transaction) => Promise<Sealed>): Promise<Sealed> {
  const result = await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    // A service that starts now waits for this lock before it compares its key with the new one.
    await tx`LOCK TABLE secrets IN ACCESS EXCLUSIVE MODE`;
    await refuseWhileServed(tx, step);
    return use(tx);
  });
  await rewriteFiles(sql);
  return result;
}

/** Removes dead rows, which the old key can decrypt, from the files of the tables. */
async function rewriteFiles(sql: Sql): Promise<void> {
  const connection = await sql.reserve();
  try {
    await connection`SET statement_timeout = 0`;
    for (const table of ['visitor_keys', 'endpoint_secrets', 'user_totp'])
      await connection.unsafe(`VACUUM FULL ${table}`);
  } finally {
    connection.release();
  }
}

interface WebhookSecrets extends EndpointKey {
  current: string;
  previous: string | null;
}

async function rewriteWebhookSecrets(
  tx: Transaction,
  rewrite: (row: WebhookSecrets) => Pick<WebhookSecrets, 'current' | 'previous'>,
): Promise<void> {
  const rows = await tx<WebhookSecrets[]>`SELECT account, webhook, current, previous FROM endpoint_secrets`;
  const rewritten = rows.map((row) => ({ account: row.account, webhook: row.webhook, ...rewrite(row) }));
  await tx`
    UPDATE endpoint_secrets s SET current = r.current, previous = r.previous,
      previous_until = CASE WHEN r.previous IS NULL THEN NULL ELSE s.previous_until END
    FROM jsonb_to_recordset(${tx.json(rewritten)}) AS r (account text, webhook text, current text, previous text)
    WHERE s.account = r.account AND s.webhook = r.webhook`;
}

async function rewriteVisitorKeys(tx: Transaction, rewrite: (key: SealedKey) => Buffer): Promise<void> {
  let after = '';
  for (;;) {
    const keys: SealedKey[] = await tx<SealedKey[]>`
      SELECT code, sealed FROM visitor_keys WHERE code > ${after} ORDER BY code LIMIT ${maxBatchSize}`;
    const rows = keys.map((key) => ({ code: key.code, sealed: rewrite(key).toString('hex') }));
    await tx`
      UPDATE visitor_keys k SET sealed = decode(r.sealed, 'hex')
      FROM jsonb_to_recordset(${tx.json(rows)}) AS r (code text, sealed text) WHERE k.code = r.code`;
    if (keys.length < maxBatchSize) return;
    after = keys.at(-1)?.code ?? after;
  }
}

async function rewriteTotpSecrets(tx: Transaction, rewrite: (sealed: string, user: string) => string): Promise<void> {
  const rows = await tx<{ user_id: string; secret: string }[]>`SELECT user_id, secret FROM user_totp`;
  const rewritten = rows.map(({ user_id, secret }) => ({ user_id, secret: rewrite(secret, user_id) }));
  await tx`
    UPDATE user_totp t SET secret = r.secret
    FROM jsonb_to_recordset(${tx.json(rewritten)}) AS r (user_id text, secret text) WHERE t.user_id = r.user_id`;
}

/** Encrypts keys that an older version stored in plain text. They cannot be lost with SECRET_KEY. */
async function sealUnsealed(
  tx: Transaction,
  seal: (key: { code: string; key: Uint8Array }) => SealedKey,
): Promise<void> {
  for (;;) {
    const keys = await tx<{ code: string; key: Uint8Array }[]>`
      DELETE FROM unsealed_visitor_keys
      WHERE code IN (SELECT code FROM unsealed_visitor_keys LIMIT ${maxBatchSize}) RETURNING code, key`;
    if (keys.length === 0) break;
    await insertSealed(tx, keys.map(seal));
  }
  await tx`TRUNCATE unsealed_visitor_keys`;
}

async function storeFingerprint(tx: Transaction, { fingerprint }: SecretBox): Promise<void> {
  await tx`
    INSERT INTO secrets VALUES ('secret_key', decode(${fingerprint.toString('hex')}, 'hex'))
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
}

/** Records that each webhook has a new secret, so that its account sees a rotation in its history. */
async function recordRotations(tx: Transaction, now: Date): Promise<void> {
  const webhooks = await tx<(Webhook & { version: number })[]>`
    SELECT w.*, a.version + row_number() OVER (PARTITION BY w.account ORDER BY w.webhook) AS version
    FROM subscriptions w JOIN accounts a ON a.id = w.account ORDER BY w.account, version`;
  if (webhooks.length === 0) return;
  const events = webhooks.flatMap(({ version, ...webhook }) =>
    rotateWebhook(webhook).map((event) => ({ stream: webhook.account, version, event })),
  );
  await applyState(tx, await append(tx, events, { actor: operator, now }));
}
