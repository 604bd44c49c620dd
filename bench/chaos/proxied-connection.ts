import { connect, type Socket } from 'node:net';

export type Side = 'client' | 'server';

/** One client's connection through a proxy, which can fail in the ways that networks fail. */
export interface ProxiedConnection {
  /** Both sides get a FIN, as when a process ends. */
  end(): void;
  /** Both sides get an RST. */
  reset(): void;
  /** Forwards only the beginning of the next message, then resets. */
  resetInMessage(): void;
  /** Sends a FIN to one side. The other side is notified neither of it nor of that side's end. */
  halfClose(side: Side): void;
  /** Holds back data, FIN and RST until `resume`, then forwards them in order, like a slow network. */
  stall(): void;
  resume(): void;
  /** Forwards everything this much later, in both directions, like a network of that latency. */
  delay(ms: number): void;
  isHalfClosed(): boolean;
}

interface ProxyOptions {
  stalled: boolean;
  delayMs?: number;
  onEnd(connection: ProxiedConnection): void;
}

export function proxyConnection(
  client: Socket,
  target: { host: string; port: number },
  { stalled, delayMs = 0, onEnd }: ProxyOptions,
): ProxiedConnection {
  const server = connect({ ...target, allowHalfOpen: true });
  let ended = false;
  let truncateNext = false;
  let isTruncated = false;
  let halfClosed = false;
  /** Events to forward once the stall ends, in order; undefined while not stalled. */
  let held: (() => void)[] | undefined = stalled ? [] : undefined;
  const forwardNow = (action: () => void) => (held === undefined ? action() : void held.push(action));
  /** Each timer runs the oldest event, so that a shorter delay does not change their order. */
  const delayed: (() => void)[] = [];
  const forward = (action: () => void) => {
    if (delayMs === 0 && delayed.length === 0) return forwardNow(action);
    delayed.push(action);
    setTimeout(() => forwardNow(delayed.shift() ?? (() => {})), delayMs);
  };

  function finish(close: (socket: Socket) => void): void {
    if (ended) return;
    ended = true;
    held = undefined;
    close(client);
    close(server);
    onEnd(connection);
  }
  const end = () => finish((socket) => socket.destroy());
  const reset = () => finish((socket) => socket.resetAndDestroy());

  function forwardData(chunk: Buffer, to: Socket): void {
    // TCP never loses bytes in the middle of a stream: nothing may follow a truncated message.
    if (ended || isTruncated || !to.writable) return;
    if (!truncateNext || chunk.length < 2) return void to.write(chunk);
    const part = chunk.subarray(0, 1 + Math.floor(Math.random() * (chunk.length - 1)));
    // An RST right after the data could make the receiver's kernel or runtime drop the data.
    to.write(part, () => setTimeout(reset));
    isTruncated = true;
  }

  function pipe(from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => forward(() => forwardData(chunk, to)));
    from.on('end', () => forward(() => !ended && !halfClosed && to.end()));
    from.on('error', () => forward(() => !halfClosed && reset()));
    from.on('close', () => forward(() => !halfClosed && end()));
  }

  const connection: ProxiedConnection = {
    end,
    reset,
    resetInMessage() {
      truncateNext = true;
    },
    halfClose(side) {
      halfClosed = true;
      (side === 'client' ? client : server).end();
    },
    stall() {
      held ??= [];
    },
    resume() {
      const actions = held ?? [];
      held = undefined;
      for (const action of actions) action();
    },
    delay(ms) {
      delayMs = ms;
    },
    isHalfClosed: () => halfClosed,
  };
  pipe(client, server);
  pipe(server, client);
  return connection;
}
