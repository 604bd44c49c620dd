import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The kinds of statements that the service sends. */
export type StatementKind = 'insert' | 'count' | 'read' | 'delete' | 'ddl' | 'other';

interface ResponseFault {
  appliesTo: StatementKind[];
  /** Whether the statement reaches ClickHouse before the faulty response is sent. */
  executes: boolean;
  respond(exchange: Exchange): void;
}

/** One proxied statement; `upstream` is ClickHouse's response if the statement was forwarded. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  upstream: { status: number; headers: Headers; body: Buffer } | undefined;
}

const errorText = (code: number, name: string, message: string) =>
  `Code: ${code}. DB::Exception: ${message}. (${name}) (version 25.8.2.29 (official build))\n`;

const respondWithError =
  (code: number, name: string, message: string, status = 500) =>
  ({ response }: Exchange) =>
    response
      .writeHead(status, { 'content-type': 'text/plain', 'x-clickhouse-exception-code': String(code) })
      .end(errorText(code, name, message));

/** The error comes after status 200 and part of the body, unless `wait_end_of_query` makes the server buffer. */
const failLate = (partialBody: string, code: number, name: string) => (exchange: Exchange) => {
  const message = 'the query failed after the response had started';
  if (fieldsOf(exchange.request).get('wait_end_of_query') === '1')
    return respondWithError(code, name, message)(exchange);
  return exchange.response
    .writeHead(200, { 'content-type': 'text/plain' })
    .end(partialBody + errorText(code, name, message));
};

/** Responses of failing servers and clusters, by name. */
const responseFaults = {
  'too few replicas (285)': {
    appliesTo: ['insert'],
    executes: false,
    respond: respondWithError(
      285,
      'TOO_FEW_LIVE_REPLICAS',
      'Number of alive replicas (1) is less than requested quorum (2/2)',
    ),
  },
  'quorum of the last insert open (286)': {
    appliesTo: ['insert'],
    executes: false,
    respond: respondWithError(
      286,
      'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE',
      'Quorum for previous write has not been satisfied yet',
    ),
  },
  'status of an insert unknown (319)': {
    appliesTo: ['insert'],
    executes: true,
    respond: respondWithError(
      319,
      'UNKNOWN_STATUS_OF_INSERT',
      'Unknown quorum status. The data was inserted in the local replica',
    ),
  },
  'replica not in the quorum (289)': {
    appliesTo: ['count', 'read'],
    executes: false,
    respond: respondWithError(
      289,
      'REPLICA_IS_NOT_IN_QUORUM',
      'Replica does not have part which was inserted with quorum',
    ),
  },
  'a low count': { appliesTo: ['count'], executes: true, respond: lowerCount },
  'no such table (60)': {
    appliesTo: ['count', 'read', 'insert'],
    executes: false,
    respond: respondWithError(60, 'UNKNOWN_TABLE', 'Unknown table expression identifier', 404),
  },
  'a late error as a row': {
    appliesTo: ['count', 'read'],
    executes: false,
    respond: failLate('{"exception": "', 241, 'MEMORY_LIMIT_EXCEEDED'),
  },
  'unfinished on a replica (341)': {
    appliesTo: ['delete'],
    executes: true,
    respond: respondWithError(
      341,
      'UNFINISHED',
      'Mutation is not finished because some replicas are inactive right now',
    ),
  },
  'field value too long': {
    appliesTo: ['delete'],
    executes: false,
    respond: respondWithError(
      1000,
      'POCO_EXCEPTION',
      'Poco::Exception. HTML Form Exception: Field value too long',
      400,
    ),
  },
  'cut in the middle': { appliesTo: ['delete'], executes: true, respond: ({ response }) => response.socket?.destroy() },
  'a late error': { appliesTo: ['delete', 'ddl'], executes: false, respond: failLate('\n', 999, 'KEEPER_EXCEPTION') },
  'timeout of hosts (159)': {
    appliesTo: ['ddl'],
    executes: true,
    respond: respondWithError(159, 'TIMEOUT_EXCEEDED', 'Distributed DDL task is not finished on 1 of 2 hosts'),
  },
} satisfies Record<string, ResponseFault>;

export type ResponseFaultName = keyof typeof responseFaults;
export const responseFaultNames = Object.keys(responseFaults) as ResponseFaultName[];

/** Counts as a replica that has not fetched the last part does. */
function lowerCount(exchange: Exchange): void {
  const { upstream, response } = exchange;
  const body = upstream?.body.toString().replace(/"value":"(\d+)"/, (_, rows) => `"value":"${Math.max(0, rows - 1)}"`);
  response.writeHead(upstream?.status ?? 502, headersOf(exchange)).end(body);
}

function kindOf(statement: string): StatementKind {
  if (/^\s*INSERT/i.test(statement)) return 'insert';
  if (/^\s*SELECT toString\(count\(\)\) AS value FROM/i.test(statement)) return 'count';
  if (/^\s*(SELECT|WITH)\b.*scans_v/is.test(statement)) return 'read';
  if (/^\s*ALTER TABLE \S+ DELETE/i.test(statement)) return 'delete';
  return /^\s*(CREATE|DROP|ALTER) /i.test(statement) ? 'ddl' : 'other';
}

export interface ClickHouseProxy {
  /** Replaces ClickHouse's URL in the settings of a service. */
  url: string;
  /** The next statement that this fault applies to gets it. */
  arm(name: ResponseFaultName): void;
  /** Whether every armed fault has occurred. */
  isUsedUp(): boolean;
  /** The probability, from 0 to 1, that a statement gets one of the faults that apply to it. */
  rate: number;
  /** How often each fault has occurred. */
  readonly occurrences: ReadonlyMap<ResponseFaultName, number>;
  stop(): Promise<void>;
}

interface Options {
  /** Called for each statement before the response, with the query parameters of its URL. */
  onStatement?(kind: StatementKind, statement: string, fields: URLSearchParams): void;
}

/** Starts an HTTP proxy that forwards statements to ClickHouse and injects faulty responses. */
export async function startClickHouseProxy(target: string, options: Options = {}): Promise<ClickHouseProxy> {
  const { onStatement = () => {} } = options;
  const armed: ResponseFaultName[] = [];
  const occurrences = new Map<ResponseFaultName, number>();

  function chooseFault(kind: StatementKind): ResponseFault | undefined {
    const applies = (name: ResponseFaultName) => (responseFaults[name].appliesTo as StatementKind[]).includes(kind);
    const armedIndex = armed.findIndex(applies);
    const applicable = responseFaultNames.filter(applies);
    const random = Math.random() < proxy.rate ? applicable[Math.floor(Math.random() * applicable.length)] : undefined;
    const name = armedIndex >= 0 ? armed.splice(armedIndex, 1)[0] : random;
    if (name === undefined) return undefined;
    occurrences.set(name, (occurrences.get(name) ?? 0) + 1);
    return responseFaults[name];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const statement = statementOf(request, body);
    const kind = kindOf(statement);
    if (statement !== '') onStatement(kind, statement, fieldsOf(request));
    const fault = chooseFault(kind);
    if (fault?.executes === false) return fault.respond({ request, response, upstream: undefined });
    const exchange = { request, response, upstream: await forward(target, request, response, body) };
    if (fault !== undefined) fault.respond(exchange);
    else response.writeHead(exchange.upstream.status, headersOf(exchange)).end(exchange.upstream.body);
  }

  const server = createServer((request, response) => {
    response.on('error', () => {});
    // Without ClickHouse the proxy behaves like a server that is down.
    handle(request, response).catch(() => response.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: ClickHouseProxy = {
    url: url.href.replace(/\/$/, ''),
    arm: (name) => void armed.push(name),
    isUsedUp: () => armed.length === 0,
    rate: 0,
    occurrences,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

const fieldsOf = ({ url = '' }: IncomingMessage) => new URLSearchParams(url.split('?')[1]);

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** An insert has its statement in the URL and its rows in the body; a multipart form has the statement in a field. */
function statementOf(request: IncomingMessage, body: Buffer): string {
  const inUrl = fieldsOf(request).get('query');
  if (inUrl !== null) return inUrl;
  const text = body.toString('latin1');
  const isForm = request.headers['content-type']?.startsWith('multipart/form-data') === true;
  return isForm ? (/name="query"\r\n\r\n([\s\S]*?)\r\n--/.exec(text)?.[1] ?? '') : text;
}

async function forward(target: string, request: IncomingMessage, response: ServerResponse, body: Buffer) {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  const { origin } = new URL(target);
  const names = ['authorization', 'content-type', 'content-encoding', 'user-agent'] as const;
  const headers = names.flatMap((name): [string, string][] => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  const method = request.method ?? 'GET';
  const content = method === 'GET' ? {} : { body: new Uint8Array(body) };
  const upstream = await fetch(`${origin}${request.url}`, { method, headers, signal: disconnected.signal, ...content });
  return { status: upstream.status, headers: upstream.headers, body: Buffer.from(await upstream.arrayBuffer()) };
}

function headersOf({ upstream }: Exchange): Record<string, string> {
  const kept = [...(upstream?.headers ?? [])].filter(([name]) => /^(content-type$|x-clickhouse-)/.test(name));
  return Object.fromEntries(kept);
}
