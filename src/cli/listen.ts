import { type Event, follow, getQrCode, isScanlogError, Scanlog } from '../../clients/typescript/src/index.ts';
import { notificationId } from '../../events/webhooks/notification.ts';
import { webhookEventTypes } from '../../events/webhooks/webhook-events.ts';
import { codeOf, messageOf, StartError } from '../lib/errors.ts';
import { lru } from '../lib/lru.ts';
import { timeouts } from '../lib/timeouts.ts';
import { newSigningSecret } from '../webhooks/secrets.ts';
import { signedHeaders } from '../webhooks/signature.ts';
import { bold, dim, print } from './terminal.ts';

const maxNames = 10_000;

interface Options {
  forwardTo: string;
  key?: string;
  url: string;
  types?: string;
  after: string;
  secret?: string;
}

/** Posts the events of an account to a URL, as a webhook would, until the process is stopped. */
export async function listen(options: Options): Promise<void> {
  await forwardEvents(readOptions(options, process.env));
}

/** Where events come from and go to. */
export interface Forwarding {
  client: Scanlog;
  to: string;
  types: string;
  after: string;
  secret: string;
  signal?: AbortSignal;
}

export function readOptions(options: Options, environment: Record<string, string | undefined>): Forwarding {
  const { key = environment['SCANLOG_KEY'], types = webhookEventTypes.join(','), after } = options;
  if (key === undefined) throw new StartError('Give an API key of the account with --key or in SCANLOG_KEY.');
  const to = urlOf('--forward-to', options.forwardTo);
  const { secret = newSigningSecret() } = options;
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new StartError('--secret must be whsec_ and a text in base64.');
  return { client: new Scanlog({ key, baseUrl: urlOf('--url', options.url) }), to, types, after, secret };
}

function urlOf(option: string, text: string): string {
  const url = URL.parse(/^\d+$/.test(text) ? `http://localhost:${text}` : text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw new StartError(`${option} must be a URL such as http://localhost:8080/hooks, not ${text}.`);
}

/** Posts each event once, in order, and prints what came back. An event that the receiver refuses is not sent again. */
export async function forwardEvents({ client, to, types, after, secret, signal }: Forwarding): Promise<void> {
  print(`Forwarding events to ${bold(to)}, signed with this secret:\n\n  ${secret}\n`);
  const onReconnect = (reason: unknown) => print(dim(`connecting again: ${messageOf(reason)}`));
  const nameOf = nameReader(client);
  const following = { client, query: { after, types }, onReconnect, ...(signal === undefined ? {} : { signal }) };
  try {
    for await (const { event } of follow(following)) {
      const sentAt = performance.now();
      const response = await post(to, await bodyOf(event, nameOf), { id: notificationId(event.id), secret });
      const took = dim(`${Math.round(performance.now() - sentAt)} ms`);
      const about = 'qr_id' in event ? event.qr_id : event.id;
      print(`${dim(event.timestamp)}  ${bold(event.type)}  ${about}  ${response}  ${took}`);
    }
  } catch (error) {
    throw isScanlogError(error) ? new StartError(error.message) : error;
  }
}

/** The present name of a code, undefined if it cannot be read, as after a delete. It is read again after each change of the code. */
function nameReader(client: Scanlog): (event: Event, id: string) => Promise<string | undefined> {
  const names = lru<string, string>(maxNames);
  return async (event, id) => {
    const cached = event.type === 'scan.created' ? names.get(id) : undefined;
    if (cached !== undefined) return cached;
    const code = await getQrCode({ client, path: { id } }).catch((error) => {
      if (isScanlogError(error)) return undefined;
      throw error;
    });
    if (code !== undefined) names.set(id, code.name);
    return code?.name;
  };
}

/** The body of a webhook of `/v1/webhooks`. */
async function bodyOf(event: Event, nameOf: ReturnType<typeof nameReader>): Promise<string> {
  const { type, timestamp, data } = event;
  const qr_name = 'qr_id' in event ? await nameOf(event, event.qr_id as string) : undefined;
  return JSON.stringify({ type, timestamp, data: qr_name === undefined ? data : { ...data, qr_name } });
}

/** Sends a body, and describes the response: `204`, or why there was none. */
async function post(to: string, body: string, { id, secret }: { id: string; secret: string }): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Scanlog-Webhooks/1',
    ...signedHeaders({ id, at: new Date(), body, secrets: [secret] }),
  };
  const signal = AbortSignal.timeout(timeouts.webhookSendMs);
  try {
    const response = await fetch(to, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    return signal.aborted
      ? `no response within ${timeouts.webhookSendMs / 1_000} s`
      : `no response: ${codeOf(error) || messageOf(error)}`;
  }
}
