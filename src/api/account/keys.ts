import { type Static, Type as t } from '@sinclair/typebox';
import { problemWithName } from '../../../events/fields.ts';
import type { KeyLimits } from '../../../events/key.ts';
import { oneOf } from '../../../events/one-of.ts';
import { type Scope, scopes } from '../../../events/scopes.ts';
import { readTimestamp, timestampProblem } from '../../../events/timestamp.ts';
import {
  createKey,
  type KeySettings,
  type ListedKey,
  listKeys,
  managedModes,
  type NewKey,
  revoke,
  rotate,
} from '../../accounts/keys.ts';
import { type FieldError, invalid, Refusal } from '../../lib/errors.ts';
import { parseRanges } from '../../lib/ip-range.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { Deleted } from '../http/schemas.ts';
import type { Service } from '../service.ts';
import { ApiKey, CreatedApiKey, KeyRotation, NewApiKey, RotatedApiKey } from './key-schemas.ts';

const tag = 'Account';

/** Operations on the API keys of the account. */
export const keyOperations = (service: Service): Operation[] => [
  listAccountKeys(service),
  createAccountKey(service),
  rotateAccountKey(service),
  revokeAccountKey(service),
];

const listAccountKeys = ({ sql }: Service): Operation =>
  operation({
    operationId: 'listKeys',
    method: 'GET',
    path: '/v1/account/keys',
    tag,
    summary: 'List API keys',
    description:
      'Valid keys, oldest first; with `include=revoked` the revoked and expired ones, too, to tell who made a change. A live key lists the keys of both modes, a test key only test keys. Secrets are not included.',
    query: t.Object({
      include: t.Optional(
        oneOf(['revoked'], { description: 'Also keys that are revoked, with `revoked_at`, or expired.' }),
      ),
    }),
    success: {
      status: 200,
      description: 'The keys that this key may manage.',
      schema: t.Object({ data: t.Array(ApiKey) }, { additionalProperties: false }),
    },
    errors: [],
    async handle({ caller, query: { include } }) {
      const withInvalid = include === 'revoked';
      const keys = await listKeys(sql, caller.account, managedModes(caller.mode), { withInvalid });
      return json(200, { data: keys.map(presentKey) });
    },
  });

const createAccountKey = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'createKey',
    method: 'POST',
    path: '/v1/account/keys',
    tag,
    summary: 'Create an API key',
    description:
      'Only this response contains the secret: the service stores only its SHA-256. `scopes`, `expires_at` and `allowed_cidrs` limit the key, and cannot be changed later. A key cannot create one that may do more, lives longer, or works from more networks than itself, and only a live key can create a live key. An account can have 500 valid keys.',
    body: NewApiKey,
    success: { status: 201, description: 'The new key, with its secret.', schema: CreatedApiKey },
    errors: ['invalid_request', 'live_key_required', 'wider_key', 'quota_exceeded', 'conflict'],
    async handle({ caller, body }) {
      const now = clock();
      const { mode = caller.mode } = body;
      const settings = { name: body.name.trim(), mode, ...readLimits(body, now) };
      if (!managedModes(caller.mode).includes(mode)) throw liveKeyRequired();
      const minted = await createKey(sql, caller.account, settings, { within: caller, actor: caller.actor, now });
      return json(201, presentNew(minted, settings, now));
    },
  });

const rotateAccountKey = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'rotateKey',
    method: 'POST',
    path: '/v1/account/keys/:id/rotate',
    tag,
    summary: 'Rotate an API key',
    description:
      'Creates a key with the name, mode, scopes and networks of this one, and a new secret, which only this response contains. The old one works for `overlap_hours` more, and then answers 401; console sessions that were opened with it end with it. A key can rotate itself, but no key that may do more than itself. A test key gets 404 for a live key.',
    params: { id: 'Identifier of the key, `key_…`.' },
    body: KeyRotation,
    success: { status: 201, description: 'The new key, with its secret.', schema: RotatedApiKey },
    errors: ['invalid_request', 'not_found', 'wider_key', 'quota_exceeded', 'conflict'],
    async handle({ caller, params: { id = '' }, body: { overlap_hours: overlapHours = 24, expires_at } }) {
      const now = clock();
      const errors: FieldError[] = [];
      const expiresAt = expires_at === undefined ? undefined : readExpiry(expires_at, now, errors);
      refuseInvalid(errors);
      const { minted, settings, replaced } = await rotate(
        sql,
        caller.account,
        id,
        { overlapHours, expiresAt, within: caller, allowedModes: managedModes(caller.mode) },
        { actor: caller.actor, now },
      );
      const response: Static<typeof RotatedApiKey> = {
        ...presentNew(minted, settings, now),
        replaced: { id: replaced.id, works_until: replaced.works_until.toISOString() },
      };
      return json(201, response);
    },
  });

const revokeAccountKey = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'revokeKey',
    method: 'DELETE',
    path: '/v1/account/keys/:id',
    tag,
    summary: 'Revoke an API key',
    description:
      'The key stops working at once on every instance. A key cannot revoke itself. A test key gets 404 for a live key.',
    params: { id: 'Identifier of the key, `key_…`.' },
    success: { status: 200, description: 'The key is revoked.', schema: Deleted },
    errors: ['invalid_request', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      await revoke(sql, caller.account, id, { actor: caller.actor, now: clock() }, managedModes(caller.mode));
      return json(200, { deleted: true, id });
    },
  });

const liveKeyRequired = () =>
  new Refusal(
    'live_key_required',
    'A test key can manage only test keys: create a live key with another live key, or in the console signed in with a live key.',
  );

/** The limits in a request for a key; throws 400 with every invalid field. */
function readLimits(body: Static<typeof NewApiKey>, now: Date): KeyLimits {
  const errors: FieldError[] = [];
  const nameProblem = problemWithName(body.name);
  if (nameProblem !== undefined) errors.push({ field: 'name', message: `name ${nameProblem}.` });
  const expires_at = readExpiry(body.expires_at, now, errors);
  const networks = body.allowed_cidrs?.map((network) => network.trim()) ?? null;
  for (const [i, network] of networks?.entries() ?? []) {
    if (isNetwork(network)) continue;
    const field = `allowed_cidrs[${i}]`;
    errors.push({ field, message: `${field} must be an IP address or CIDR range, such as 203.0.113.0/24.` });
  }
  refuseInvalid(errors);
  return { scopes: inOrder(body.scopes ?? null), expires_at, allowed_cidrs: networks && [...new Set(networks)] };
}

function refuseInvalid([first, ...rest]: FieldError[]): void {
  if (first !== undefined) throw invalid([first, ...rest]);
}

/** `parseRanges` also takes a list, and an empty text. */
const isNetwork = (text: string) => /^[^,]+$/.test(text) && !('error' in parseRanges(text));

/** Each scope once, in the order of the documentation. */
const inOrder = (given: Scope[] | null): Scope[] | null => given && scopes.filter((scope) => given.includes(scope));

function readExpiry(text: string | null | undefined, now: Date, errors: FieldError[]): Date | null {
  if (text === null || text === undefined) return null;
  const field = 'expires_at';
  const date = readTimestamp(text);
  if (date === undefined) errors.push({ field, message: `${field} ${timestampProblem}.` });
  else if (date <= now) errors.push({ field, message: `${field} must be in the future.` });
  return date ?? null;
}

function presentNew(
  { id, secret }: NewKey,
  { name, mode, scopes, expires_at, allowed_cidrs }: KeySettings,
  now: Date,
): Static<typeof CreatedApiKey> {
  return {
    id,
    name,
    mode,
    prefix: `sk_${mode}_`,
    last4: secret.slice(-4),
    scopes: scopes && [...scopes],
    expires_at: expires_at?.toISOString() ?? null,
    allowed_cidrs: allowed_cidrs && [...allowed_cidrs],
    created_at: now.toISOString(),
    last_used_at: null,
    unused: false,
    key: secret,
  };
}

const presentKey = (key: ListedKey): Static<typeof ApiKey> => ({
  id: key.id,
  name: key.name,
  mode: key.mode,
  prefix: `sk_${key.mode}_`,
  last4: key.last4,
  scopes: key.scopes && [...key.scopes],
  expires_at: key.expires_at?.toISOString() ?? null,
  allowed_cidrs: key.allowed_cidrs && [...key.allowed_cidrs],
  created_at: key.created_at.toISOString(),
  last_used_at: key.last_used_at?.toISOString() ?? null,
  unused: key.unused,
  ...(key.replaced_by === null ? {} : { replaced_by: key.replaced_by }),
  ...(key.revoked_at === null ? {} : { revoked_at: key.revoked_at.toISOString() }),
});
