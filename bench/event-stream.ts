/** A message of the event feed. */
export interface FeedMessage {
  /** The cursor after it. */
  id: string;
  event: { id: string; type: string; timestamp: string; actor: string; qr_id?: string; data: Record<string, unknown> };
}

interface StreamOptions {
  key: string;
  /** Added to the query, such as `types=scan.created`. */
  query?: string;
  lastEventId?: string | undefined;
  signal: AbortSignal;
  /** Called with every piece that arrives, heartbeats included. */
  onPiece?(): void;
}

/** The messages of one stream of GET /v1/events, until it ends; throws if it is refused or broken. */
export async function* eventStream(
  url: string,
  { key, query = '', lastEventId, signal, onPiece = () => {} }: StreamOptions,
): AsyncGenerator<FeedMessage> {
  const response = await fetch(`${url}/v1/events${query === '' ? '' : `?${query}`}`, {
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`the event stream was refused with ${response.status}: ${await response.text()}`);
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    onPiece();
    text += piece;
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const fields = new Map(message.split('\n').map((line) => splitOnce(line, ': ')));
      const [id, data] = [fields.get('id'), fields.get('data')];
      if (id !== undefined && data !== undefined) yield { id, event: JSON.parse(data) };
    }
  }
}

const splitOnce = (line: string, by: string): [string, string] => {
  const at = line.indexOf(by);
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + by.length)];
};
