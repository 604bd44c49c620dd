import { type AddressInfo, createServer, type Socket } from 'node:net';

/** One connection to the fake server. */
export interface FakeConnection {
  socket: Socket;
  /** As Postgres reports it: `I` idle, `T` in a transaction. */
  transaction: 'I' | 'T';
}

/**
 * Implements enough of Postgres' protocol for the `postgres` package to connect and query, so that a test can end a
 * connection at an exact moment. `SELECT 'word'` returns one row `{ tag: 'word' }`.
 */
export interface FakePostgres {
  url: string;
  /** Every statement that was executed, in order. */
  readonly executed: string[];
  readonly connections: FakeConnection[];
  accepted: number;
  /** When a hook returns true, it has handled the connection or statement, and the server sends no response. */
  onAccept: ((connection: FakeConnection) => boolean) | undefined;
  onExecute: ((statement: string, connection: FakeConnection) => boolean) | undefined;
  /** Resets all connections (RST), and blocks the event loop until the client's sockets have received all resets. */
  resetAll(): void;
  close(): Promise<void>;
}

const text = (value: string) => Buffer.from(`${value}\0`);
const int16 = (value: number) => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const message = (type: string, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};

/** What Postgres sends before it ends a connection. */
export const fatalError = (code: string) =>
  message('E', text('SFATAL'), text('VFATAL'), text(`C${code}`), text('Mterminating connection'), Buffer.from([0]));

/** One row with one column, as a SELECT returns it. */
export const dataRow = (tag: string) => message('D', int16(1), int32(tag.length), Buffer.from(tag));

export const commandComplete = (tag: string) => message('C', text(tag));
export const readyForQuery = message('Z', Buffer.from('I'));

const isSelect = (statement: string) => /^\s*select/i.test(statement);
const rowDescription = (statement: string) =>
  isSelect(statement)
    ? message('T', int16(1), text('tag'), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0))
    : message('n');

export async function startFakePostgres(): Promise<FakePostgres> {
  const server = createServer((socket) => {
    fake.accepted++;
    const connection: FakeConnection = { socket, transaction: 'I' };
    fake.connections.push(connection);
    socket.on('error', () => {});
    socket.on('close', () => fake.connections.splice(fake.connections.indexOf(connection), 1));
    if (fake.onAccept?.(connection)) return;
    serve(fake, connection);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakePostgres = {
    url: `postgres://user@127.0.0.1:${(server.address() as AddressInfo).port}/database`,
    executed: [],
    connections: [],
    accepted: 0,
    onAccept: undefined,
    onExecute: undefined,
    resetAll() {
      for (const { socket } of [...fake.connections]) socket.resetAndDestroy();
      const until = performance.now() + 20;
      while (performance.now() < until);
    },
    async close() {
      for (const { socket } of [...fake.connections]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

/** The response to a statement; undefined when a hook has handled it. */
function execute(fake: FakePostgres, connection: FakeConnection, statement: string): Buffer | undefined {
  fake.executed.push(statement.trim());
  if (fake.onExecute?.(statement, connection)) return undefined;
  const verb = (/^\s*(\w+)/.exec(statement)?.[1] ?? '').toLowerCase();
  if (verb === 'begin') connection.transaction = 'T';
  if (verb === 'commit' || verb === 'rollback') connection.transaction = 'I';
  if (verb !== 'select') return commandComplete(verb.toUpperCase() + (verb === 'insert' ? ' 0 1' : ''));
  return Buffer.concat([dataRow(/'(\w+)/.exec(statement)?.[1] ?? '?'), commandComplete('SELECT 1')]);
}

function serve(fake: FakePostgres, connection: FakeConnection): void {
  const { socket } = connection;
  const statements = new Map<string, string>();
  let bound = '';
  let isStarted = false;
  let received: Buffer = Buffer.alloc(0);
  const ready = () => message('Z', Buffer.from(connection.transaction));

  /** Returns whether the connection stays open. */
  function answer(type: string, body: Buffer): boolean {
    const textAt = (at: number) => body.toString('utf8', at, body.indexOf(0, at));
    if (type === 'P') {
      const name = textAt(0);
      statements.set(name, textAt(name.length + 1));
      socket.write(message('1'));
    } else if (type === 'D') {
      const statement = statements.get(textAt(1)) ?? '';
      const parameters = new Set(statement.match(/\$\d+/g)).size;
      const types = Array.from({ length: parameters }, () => int32(25));
      socket.write(Buffer.concat([message('t', int16(parameters), ...types), rowDescription(statement)]));
    } else if (type === 'B') {
      bound = statements.get(textAt(textAt(0).length + 1)) ?? '';
      socket.write(message('2'));
    } else if (type === 'E') {
      const rows = execute(fake, connection, bound);
      if (rows === undefined) return false;
      socket.write(rows);
    } else if (type === 'Q') {
      const statement = textAt(0);
      const rows = execute(fake, connection, statement);
      if (rows === undefined) return false;
      const description = isSelect(statement) ? rowDescription(statement) : Buffer.alloc(0);
      socket.write(Buffer.concat([description, rows, ready()]));
    } else if (type === 'S') socket.write(ready());
    else if (type === 'X') socket.end();
    return type !== 'X';
  }

  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (!isStarted) {
      if (received.length < 8 || received.length < received.readInt32BE(0)) return;
      received = received.subarray(received.readInt32BE(0));
      isStarted = true;
      const backendKey = message('K', int32(fake.accepted), int32(7));
      socket.write(Buffer.concat([message('R', int32(0)), backendKey, ready()]));
    }
    while (received.length >= 5 && received.length > received.readInt32BE(1)) {
      const end = received.readInt32BE(1) + 1;
      const [type, body] = [String.fromCharCode(received[0] ?? 0), received.subarray(5, end)];
      received = received.subarray(end);
      if (!answer(type, body)) return;
    }
  });
}
