import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

const exact = { additionalProperties: false };
const text = Type.String();
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const count = Type.Integer({ minimum: 0 });
const hex = Type.String({ pattern: '^([0-9a-f]{2})*$' });
const record = <K extends string, P extends Record<string, TSchema>>(kind: K, properties: P) =>
  Type.Object({ kind: Type.Literal(kind), ...properties }, exact);

/** What cursors of the event feed are sealed with, see src/log/cursor-source.ts. */
const cursors = Type.Object(
  {
    keys: Type.Object({ mac: hex, cipher: hex }, exact),
    branch: count,
    branches: Type.Array(Type.Object({ branch: count, after: count }, exact)),
  },
  exact,
);

/** What an account file has beside the entries of the log and the visitors. Times are as Postgres writes them in JSON. */
export const openRecord = Type.Union([
  record('key_usage', { key: text, last_used_at: text }),
  record('limited_scans', { code: text, used: count }),
  record('dropped_scans', { code: text, total_scans: count, unique_scans: count, uncounted_scans: count }),
  record('import', { source: text, source_id: text, code: text }),
  record('logo_file', { hash: text, type: text, content: hex }),
  record('report_schedule', { report: text, period: text, due_at: text, sent_at: orNull(text) }),
  record('move_positions', { number: count, position: count, sources: Type.Array(count, { minItems: 1 }) }),
]);
export type OpenRecord = Static<typeof openRecord>;

/** Records that are secret, as the text of a record of the kind `sealed`. */
export const secretRecord = Type.Union([
  record('visitor_key', { code: text, key: hex }),
  record('code_password', { code: text, hash: text }),
  record('webhook_secret', {
    webhook: text,
    current: text,
    previous: orNull(text),
    previous_until: orNull(text),
  }),
  record('share_secret', { share: text, token: text, password_hash: orNull(text) }),
  record('mail_recipient', {
    token: text,
    subject: text,
    email: text,
    number: orNull(count),
    unsubscribed_at: orNull(text),
  }),
  record('move', {
    number: count,
    sha256: text,
    after_position: count,
    to_position: count,
    entries: count,
    cursors,
    started_at: text,
    done_at: text,
  }),
  record('cursors', { cursors }),
]);
export type SecretRecord = Static<typeof secretRecord>;

const sealedRecord = record('sealed', { text });
type SealedRecord = Static<typeof sealedRecord>;

export type AccountRecord = OpenRecord | SecretRecord;

const line = TypeCompiler.Compile(Type.Union([openRecord, sealedRecord]));
const secret = TypeCompiler.Compile(secretRecord);

export const isRecordLine = (value: unknown): value is OpenRecord | SealedRecord => line.Check(value);
export const isSecretRecord = (value: unknown): value is SecretRecord => secret.Check(value);
