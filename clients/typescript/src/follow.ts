import type { RequestOptions, Scanlog } from './client.ts';
import { isScanlogError } from './errors.ts';
import type { Event, ListEventsData, ListEventsResponse } from './generated/types.gen.ts';
import { backoffMs } from './sleep.ts';

/** The service sends something every 15 s: after three times as long, the connection is lost. */
const maxSilenceMs = 45_000;
const url = '/v1/events' satisfies ListEventsData['url'];

export interface FollowOptions {
  client: Scanlog;
  /** Which events: `after`, `types` and `qr_id` as in `listEvents`. Without `after`, all since the beginning. */
  query?: Pick<NonNullable<ListEventsData['query']>, 'after' | 'types' | 'qr_id'>;
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Called when the connection is lost, before it is opened again. */
  onReconnect?: (reason: unknown) => void;
}

export interface Followed {
  event: Event;
  /** The place after this event. Store it, and pass it as `after` to go on there later. */
  cursor: string;
}

/**
 * The events of the account as they happen, each once and in order. A lost connection is opened again after the last event; only
 * what cannot change by itself, such as a revoked key, is thrown.
 *
 * @example
 * for await (const { event, cursor } of follow({ client, query: { after: 'now' } })) console.log(event.type, cursor);
 */
export async function* follow(options: FollowOptions): AsyncGenerator<Followed, void, undefined> {
  const { client, query = {}, signal, onReconnect } = options;
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  signal?.addEventListener('abort', stop, { once: true });
  let after = query.after;
  let failures = 0;
  try {
    if (signal?.aborted) return;
    // Otherwise what happens between a lost connection and the next one would be missed.
    if (after === 'now') after = await endOfFeed(client, stopping.signal);
    for (;;) {
      try {
        for await (const message of messages(client, { url, query: { ...query, after } }, stopping.signal)) {
          failures = 0;
          after = message.cursor;
          yield message;
        }
        onReconnect?.('the service has closed the stream');
      } catch (error) {
        if (stopping.signal.aborted || isFinal(error)) throw error;
        onReconnect?.(error);
      }
      await client.sleep(backoffMs(failures++), stopping.signal);
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

async function endOfFeed(client: Scanlog, signal: AbortSignal): Promise<string> {
  const { next } = await client.get<{ 200: ListEventsResponse }>({ url, query: { after: 'now', limit: 1 }, signal });
  return next;
}

/** Whether an error would come again: one that the service answers with, but for limits and overload. */
const isFinal = (error: unknown): boolean =>
  isScanlogError(error) && error.status !== undefined && error.status < 500 && error.code !== 'rate_limited';

/** The messages of one connection, until it ends or is silent for too long. */
async function* messages(
  client: Scanlog,
  request: RequestOptions,
  signal: AbortSignal,
): AsyncGenerator<Followed, void, undefined> {
  const connection = new AbortController();
  const stop = () => connection.abort();
  signal.addEventListener('abort', stop, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const headers = { accept: 'text/event-stream' };
    const response = await client.send('GET', { ...request, headers, signal: connection.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      timer = setTimeout(stop, maxSilenceMs);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const message = readMessage(part);
        if (message !== undefined) yield message;
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** Undefined for a heartbeat. */
function readMessage(text: string): Followed | undefined {
  const fields = new Map(text.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const [cursor, data] = [fields.get('id'), fields.get('data')];
  return cursor === undefined || data === undefined ? undefined : { cursor, event: JSON.parse(data) };
}
