import { connect, type Socket } from 'node:net';

export type Side = 'client' | 'server';

/** One client's connection through a proxy, which can be broken in the ways that networks break connections. */
export interface ProxiedConnection {
  /** Both sides get a FIN, as when a process ends. */
  end(): void;
  /** Both sides get an RST. */
  reset(): void;
  /** Forwards the first part of the next message only, then resets. */
  resetInMessage(): void;
  /** Sends a FIN to one side. The other side never learns of it, nor of the end of that side. */
  halfClose(side: Side): void;
  /** Forwards nothing, neither data nor the end of a side, until `resume`. Nothing is lost, as with a slow network. */
  stall(): void;
  resume(): void;
  isHalfClosed(): boolean;
}

export function proxyConnection(
  client: Socket,
  target: { host: string; port: number },
  { stalled, onEnd }: { stalled: boolean; onEnd(connection: ProxiedConnection): void },
): ProxiedConnection {
  const server = connect({ ...target, allowHalfOpen: true });
  let ended = false;
  let cutNext = false;
  let isCut = false;
  let halfClosed = false;
  /** What happened while stalled, in order. */
  let held: (() => void)[] | undefined = stalled ? [] : undefined;
  const forward = (action: () => void) => (held === undefined ? action() : void held.push(action));

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
    // TCP never drops bytes from the middle: nothing may follow a message that was cut.
    if (ended || isCut || !to.writable) return;
    if (!cutNext || chunk.length < 2) return void to.write(chunk);
    const part = chunk.subarray(0, 1 + Math.floor(Math.random() * (chunk.length - 1)));
    // An RST right after the data could make the receiver's kernel or runtime drop the data.
    to.write(part, () => setTimeout(reset));
    isCut = true;
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
      cutNext = true;
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
    isHalfClosed: () => halfClosed,
  };
  pipe(client, server);
  pipe(server, client);
  return connection;
}
