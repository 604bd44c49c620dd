import type { Span, Tracing } from '../tracing/tracing.ts';
import type { Attempt, Message, Send } from './send.ts';

/**
 * Sends each message in a span, with a `traceparent` header. An API request that sends the message itself, such as an example
 * event, continues its trace; the delivery of an event begins one.
 */
export const tracedSend =
  (send: Send, tracing: Tracing): Send =>
  async (message, abort) => {
    const id = message.headers['webhook-id'] ?? '';
    const parent = tracing.active();
    const options = { kind: 'client' as const, parent, attributes: attributesOf(message, id) };
    return tracing.record('POST webhook', options, async (span) => {
      const headers = { ...message.headers, traceparent: tracing.traceparentOf(span) };
      const attempt = await send({ ...message, headers }, abort);
      noteOutcome(tracing, span, attempt);
      return attempt;
    });
  };

/** Of the URL only the host: paths and queries of receivers can contain secrets. */
function attributesOf({ url }: Message, id: string) {
  const { hostname, port, protocol } = new URL(url);
  return {
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    'scanlog.delivery.id': id,
  };
}

function noteOutcome(tracing: Tracing, span: Span, { outcome, status }: Attempt): void {
  if (status !== null) span.setAttribute('http.response.status_code', status);
  if (outcome !== 'delivered') tracing.fail(span, outcome === 'refused' ? String(status) : outcome);
}
