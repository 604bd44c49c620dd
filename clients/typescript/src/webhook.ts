import type { CodeWebhookEvent, ScanEvent, ScanWebhookEvent } from './generated/types.gen.ts';

const defaultToleranceSeconds = 300;
const secretPrefix = 'whsec_';

/** What a webhook of `/v1/webhooks` sends (with `type`), or the one of `/v1/account/webhook` (with `event`). */
export type WebhookEvent = ScanWebhookEvent | CodeWebhookEvent | ScanEvent;

/** A request that is not from the service, was changed on the way, or is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export interface SignedRequest {
  /** The body as it was received: parsing and writing it again would change it. */
  body: string;
  /** The headers of the request, as `Headers` or as an object. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The secret of the webhook, `whsec_…`. */
  secret: string;
  /** How old, or how far in the future, a request may be. Default: 300. */
  toleranceSeconds?: number;
}

/**
 * Returns the event of a request to a webhook whose signature is right; otherwise throws a `WebhookVerificationError`. The header
 * `webhook-id` is the same when an event is sent again.
 *
 * @example
 * const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secret: 'whsec_…' });
 */
export async function verifyWebhook({ body, headers, secret, ...options }: SignedRequest): Promise<WebhookEvent> {
  const { toleranceSeconds = defaultToleranceSeconds } = options;
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => {
    const value = headerOf(headers, `webhook-${name}`);
    if (value === undefined) throw new WebhookVerificationError(`The header webhook-${name} is missing.`);
    return value;
  }) as [string, string, string];
  const ageSeconds = Math.abs(Date.now() / 1_000 - Number(timestamp));
  if (!(ageSeconds <= toleranceSeconds))
    throw new WebhookVerificationError(`The timestamp is not within ${toleranceSeconds} s of now.`);
  const key = await keyOf(secret);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  // During a rotation of the secret, there is a signature for each of two.
  for (const signature of signatures.split(' ')) {
    const [version, encoded = ''] = signature.split(',');
    const bytes = version === 'v1' ? bytesOf(encoded) : undefined;
    if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, content))) return JSON.parse(body);
  }
  throw new WebhookVerificationError('The signature is not of this secret and body.');
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(secretPrefix) ? bytesOf(secret.slice(secretPrefix.length)) : undefined;
  if (bytes === undefined) throw new WebhookVerificationError('The secret must begin with whsec_.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function headerOf(headers: SignedRequest['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value[0] : value;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
