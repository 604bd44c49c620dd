import type { Session } from '../../accounts/console-sessions.ts';
import { hashOfKey } from '../../accounts/keys.ts';
import { readJson } from '../../api/http/body.ts';
import { readForm } from '../../api/http/form.ts';
import { invalid, Refusal } from '../../lib/errors.ts';
import { noteProof } from '../../people/sessions.ts';
import { checkCode } from '../../people/totp.ts';
import { type Console, jsonResponse, peerOf, type RequestContext } from '../context.ts';
import { isSameOrigin } from '../same-site.ts';
import { ownSession } from '../sessions.ts';
import { maxAssertionFormLength } from './assertion.ts';
import { userOfAssertion } from './passkey-sign-in.ts';
import { tryPassword } from './password-sign-in.ts';
import { tooManyCodes } from './totp.ts';

/**
 * Proves a session again, for what asks for it: takes `password`, `code` or a passkey's `step` and `response` for a person, `key`
 * for a session with keys, as a form or as JSON. A wrong one answers 400 and names the field.
 */
export async function handleProof(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock, addresses } = console.service;
  const fields = await readFields(request);
  if (!isSameOrigin(request, addresses.publicUrl))
    throw new Refusal('unauthorized', 'This request did not come from the console.');
  const { token, session } = await ownSession(console, request.headers);
  await requireProofOf(console, context, session, fields);
  await noteProof(sql, token, clock());
  return jsonResponse(200, { proven: true });
}

async function requireProofOf(
  console: Console,
  context: RequestContext,
  { user, keys }: Session,
  fields: Fields,
): Promise<void> {
  const { password, key } = fields;
  if (user !== null) {
    if (fields.code !== undefined) return requireCode(console, user.id, fields.code);
    if (fields.response !== undefined) return requirePasskey(console, context, user.id, fields);
    if (password === undefined) throw invalid([{ field: 'password', message: 'password must be given.' }]);
    const { isRight, refusal } = await tryPassword(console, context, user.email, password);
    if (refusal !== undefined) throw refusal;
    if (!isRight) throw invalid([{ field: 'password', message: 'This is not your password.' }]);
    return;
  }
  if (key === undefined) throw invalid([{ field: 'key', message: 'key must be given.' }]);
  const { refusal } = await console.api.admission.byAddress(context.request, peerOf(context));
  if (refusal !== undefined) throw refusal;
  const [found] = await console.service.sql<{ id: string }[]>`
    SELECT id FROM api_keys WHERE hash = ${hashOfKey(key.trim())}`;
  if (!keys.some(({ id }) => id === found?.id))
    throw invalid([{ field: 'key', message: 'This is not an API key of this session.' }]);
}

async function requireCode({ service }: Console, user: string, code: string): Promise<void> {
  const { sql, clock, webhooks } = service;
  const result = await checkCode(sql, webhooks.box, { user, code }, clock());
  if (result === 'limited') throw tooManyCodes();
  if (result === 'wrong') throw invalid([{ field: 'code', message: 'This code is wrong or was used already.' }]);
}

async function requirePasskey(
  console: Console,
  context: RequestContext,
  user: string,
  { step = '', response = '' }: Fields,
): Promise<void> {
  const { refusal } = await console.api.admission.byAddress(context.request, peerOf(context));
  if (refusal !== undefined) throw refusal;
  if ((await userOfAssertion(console, step, response)) !== user)
    throw invalid([{ field: 'response', message: 'This passkey is not one of yours, or it took too long.' }]);
}

const fieldNames = ['password', 'key', 'code', 'step', 'response'] as const;
type Fields = { [name in (typeof fieldNames)[number]]?: string | undefined };

async function readFields(request: Request): Promise<Fields> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    const form = await readForm(request, maxAssertionFormLength);
    return Object.fromEntries(fieldNames.map((name) => [name, form.get(name) ?? undefined]));
  }
  const body = await readJson(request);
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return Object.fromEntries(fieldNames.map((name) => [name, textOf(given[name])]));
}
