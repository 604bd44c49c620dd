import { headers, type JsMsg, type MsgHdrs } from 'nats';
import type { LogRange } from '../../events/entry.ts';
import type { Attributes } from '../tracing/tracing.ts';

const name = 'traceparent';

/** The headers of a message that a span publishes. */
export function headersWith(traceparent: string): MsgHdrs {
  const created = headers();
  created.set(name, traceparent);
  return created;
}

/** The span that published a message; undefined for messages of a process without traces. */
export const traceparentIn = (message: JsMsg): string | undefined => message.headers?.get(name) || undefined;

/** Whether the span of a `traceparent` is recorded. */
export const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;

export const messagingAttributes = (stream: string, operation: string, type: 'send' | 'process'): Attributes => ({
  'messaging.system': 'nats',
  'messaging.destination.name': stream,
  'messaging.operation.name': operation,
  'messaging.operation.type': type,
});

/** Which part of the log a span is about. */
export const rangeAttributes = ({ after, to, entries }: LogRange): Attributes => ({
  'scanlog.log.after': after,
  'scanlog.log.to': to,
  'scanlog.entries': entries.length,
});
