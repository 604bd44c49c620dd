import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a statement of ours is. */
export type StatementKind = 'insert' | 'count' | 'read' | 'delete' | 'ddl' | 'other';

interface Trouble {
  fits: StatementKind[];
  /** Whether ClickHouse executes the statement all the same. */
  executes: boolean;
  answer(passed: Passed): void;
}

/** A statement on its way, and what ClickHouse answered where it was asked. */
interface Passed {
  request: IncomingMessage;
  response: ServerResponse;
  upstream: { status: number; headers: Headers; body: Buffer } | undefined;
}

const errorText = (code: number, name: string, message: string) =>
  `Code: ${code}. DB::Exception: ${message}. (${name}) (version 25.8.2.29 (official build))\n`;

const refuse =
  (code: number, name: string, message: string, status = 500) =>
  ({ response }: Passed) =>
    response
      .writeHead(status, { 'content-type': 'text/plain', 'x-clickhouse-exception-code': String(code) })
      .end(errorText(code, name, message));

/** Status 200 is out before the error; a server that was asked to wait for the end of the query has not sent it yet. */
const late =
  (begun: string, code: number, name: string) =>
  ({ request, response, ...passed }: Passed) => {
    const message = 'the query failed after the answer had begun';
    if (fieldsOf(request).get('wait_end_of_query') === '1')
      return refuse(code, name, message)({ request, response, ...passed });
    return response.writeHead(200, { 'content-type': 'text/plain' }).end(begun + errorText(code, name, message));
  };

/** The answers of servers and clusters in trouble. */
const troubles = {
  'too few replicas (285)': {
    fits: ['insert'],
    executes: false,
    answer: refuse(285, 'TOO_FEW_LIVE_REPLICAS', 'Number of alive replicas (1) is less than requested quorum (2/2)'),
  },
  'quorum of the last insert open (286)': {
    fits: ['insert'],
    executes: false,
    answer: refuse(
      286,
      'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE',
      'Quorum for previous write has not been satisfied yet',
    ),
  },
  'status of an insert unknown (319)': {
    fits: ['insert'],
    executes: true,
    answer: refuse(
      319,
      'UNKNOWN_STATUS_OF_INSERT',
      'Unknown quorum status. The data was inserted in the local replica',
    ),
  },
  'replica not in the quorum (289)': {
    fits: ['count', 'read'],
    executes: false,
    answer: refuse(289, 'REPLICA_IS_NOT_IN_QUORUM', 'Replica does not have part which was inserted with quorum'),
  },
  'a low count': { fits: ['count'], executes: true, answer: lowerCount },
  'no such table (60)': {
    fits: ['count', 'read', 'insert'],
    executes: false,
    answer: refuse(60, 'UNKNOWN_TABLE', 'Unknown table expression identifier', 404),
  },
  'a late error as a row': {
    fits: ['count', 'read'],
    executes: false,
    answer: late('{"exception": "', 241, 'MEMORY_LIMIT_EXCEEDED'),
  },
  'unfinished on a replica (341)': {
    fits: ['delete'],
    executes: true,
    answer: refuse(341, 'UNFINISHED', 'Mutation is not finished because some replicas are inactive right now'),
  },
  'field value too long': {
    fits: ['delete'],
    executes: false,
    answer: refuse(1000, 'POCO_EXCEPTION', 'Poco::Exception. HTML Form Exception: Field value too long', 400),
  },
  'cut in the middle': { fits: ['delete'], executes: true, answer: ({ response }) => response.socket?.destroy() },
  'a late error': { fits: ['delete', 'ddl'], executes: false, answer: late('\n', 999, 'KEEPER_EXCEPTION') },
  'timeout of hosts (159)': {
    fits: ['ddl'],
    executes: true,
    answer: refuse(159, 'TIMEOUT_EXCEEDED', 'Distributed DDL task is not finished on 1 of 2 hosts'),
  },
} satisfies Record<string, Trouble>;

export type TroubleName = keyof typeof troubles;
export const troubleNames = Object.keys(troubles) as TroubleName[];

/** A replica that has not fetched the last part. */
function lowerCount(passed: Passed): void {
  const { upstream, response } = passed;
  const body = upstream?.body.toString().replace(/"value":"(\d+)"/, (_, rows) => `"value":"${Math.max(0, rows - 1)}"`);
  response.writeHead(upstream?.status ?? 502, headersOf(passed)).end(body);
}

function kindOf(statement: string): StatementKind {
  if (/^\s*INSERT/i.test(statement)) return 'insert';
  if (/^\s*SELECT toString\(count\(\)\) AS value FROM/i.test(statement)) return 'count';
  if (/^\s*(SELECT|WITH)\b.*scans_v/is.test(statement)) return 'read';
  if (/^\s*ALTER TABLE \S+ DELETE/i.test(statement)) return 'delete';
  return /^\s*(CREATE|DROP|ALTER) /i.test(statement) ? 'ddl' : 'other';
}

export interface ClickHouseProxy {
  /** The address to give to a service instead of ClickHouse's. */
  url: string;
  /** The next statement that this answer fits gets it. */
  arm(name: TroubleName): void;
  /** Whether every armed answer was given. */
  isSpent(): boolean;
  /** The share of statements that get one of the answers that fit them, from 0 to 1. */
  rate: number;
  /** How often each answer was given. */
  readonly given: ReadonlyMap<TroubleName, number>;
  stop(): Promise<void>;
}

interface Options {
  /** Called for each statement before it is answered, with the fields of its URL. */
  onStatement?(kind: StatementKind, statement: string, fields: URLSearchParams): void;
}

/** Stands before ClickHouse, and answers some statements as servers and clusters in trouble do. */
export async function startClickHouseProxy(target: string, options: Options = {}): Promise<ClickHouseProxy> {
  const { onStatement = () => {} } = options;
  const armed: TroubleName[] = [];
  const given = new Map<TroubleName, number>();

  function choose(kind: StatementKind): Trouble | undefined {
    const fits = (name: TroubleName) => (troubles[name].fits as StatementKind[]).includes(kind);
    const at = armed.findIndex(fits);
    const fitting = troubleNames.filter(fits);
    const random = Math.random() < proxy.rate ? fitting[Math.floor(Math.random() * fitting.length)] : undefined;
    const name = at >= 0 ? armed.splice(at, 1)[0] : random;
    if (name === undefined) return undefined;
    given.set(name, (given.get(name) ?? 0) + 1);
    return troubles[name];
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const statement = statementOf(request, body);
    const kind = kindOf(statement);
    if (statement !== '') onStatement(kind, statement, fieldsOf(request));
    const trouble = choose(kind);
    if (trouble?.executes === false) return trouble.answer({ request, response, upstream: undefined });
    const passed = { request, response, upstream: await forward(target, request, response, body) };
    if (trouble !== undefined) trouble.answer(passed);
    else response.writeHead(passed.upstream.status, headersOf(passed)).end(passed.upstream.body);
  }

  const server = createServer((request, response) => {
    response.on('error', () => {});
    // ClickHouse is down: so is what stands before it.
    pass(request, response).catch(() => response.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: ClickHouseProxy = {
    url: url.href.replace(/\/$/, ''),
    arm: (name) => void armed.push(name),
    isSpent: () => armed.length === 0,
    rate: 0,
    given,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

const fieldsOf = ({ url = '' }: IncomingMessage) => new URLSearchParams(url.split('?')[1]);

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Rows of an insert follow in the body, and its statement is in the URL; a form has it in a field. */
function statementOf(request: IncomingMessage, body: Buffer): string {
  const inUrl = fieldsOf(request).get('query');
  if (inUrl !== null) return inUrl;
  const text = body.toString('latin1');
  const isForm = request.headers['content-type']?.startsWith('multipart/form-data') === true;
  return isForm ? (/name="query"\r\n\r\n([\s\S]*?)\r\n--/.exec(text)?.[1] ?? '') : text;
}

async function forward(target: string, request: IncomingMessage, response: ServerResponse, body: Buffer) {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { origin } = new URL(target);
  const names = ['authorization', 'content-type', 'content-encoding', 'user-agent'] as const;
  const headers = names.flatMap((name): [string, string][] => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  const method = request.method ?? 'GET';
  const content = method === 'GET' ? {} : { body: new Uint8Array(body) };
  const answer = await fetch(`${origin}${request.url}`, { method, headers, signal: gone.signal, ...content });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

function headersOf({ upstream }: Passed): Record<string, string> {
  const kept = [...(upstream?.headers ?? [])].filter(([name]) => /^(content-type$|x-clickhouse-)/.test(name));
  return Object.fromEntries(kept);
}
