import { Type as t } from '@sinclair/typebox';
import type { Elysia } from 'elysia';
import type { Admission, Rate } from '../accounts/admission.ts';
import { requireScope } from '../accounts/key-limits.ts';
import { requireProof, requireRole } from '../accounts/roles.ts';
import { Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { idleSeconds, timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { accessOf } from './http/access.ts';
import { readJson } from './http/body.ts';
import type { Call, Method, Operation } from './http/operation.ts';
import {
  type ApiResponse,
  refusalOf,
  refusalResponse,
  type StreamedResponse,
  streamOf,
  toResponse,
  unavailable,
} from './http/responses.ts';
import { type Context, traced } from './http/traced.ts';
import { queryReader, validator } from './http/validate.ts';

export type Handle = (
  call: Pick<Call<never, never>, 'caller' | 'rate' | 'params'>,
  request: Request,
) => Promise<ApiResponse | StreamedResponse>;

/** Where operations are served, and how requests are authenticated there. */
export interface MountOptions {
  base: '/v1' | '/console/api' | '/console/api/operator';
  admit(request: Request, peer: string): Promise<Admission>;
  /** Query parameters that `admit` reads, and every operation therefore accepts here. */
  parameters?: readonly string[];
  log: Logger;
  tracing?: Tracing | undefined;
}

/** Serves every operation; other paths under the base are answered with 404, other methods with 405. */
export function mount(app: Elysia, operations: Operation[], options: MountOptions): void {
  const { base } = options;
  const methods = new Map<string, Method[]>();
  for (const operation of operations) {
    const { method } = operation;
    const path = base + operation.path.slice('/v1'.length);
    const handle = withAccess(operation, handlerOf(operation, options.parameters));
    const respond = responder(options, path, handle, operation.answerWithinMs);
    app.route(method, path, respond);
    if (method === 'GET') app.route('HEAD', path, respond);
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, allowed] of methods) {
    const allow = allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    const refuse = responder(options, path, async () => {
      throw new Refusal('method_not_allowed', `This path supports only ${allow}.`, undefined, { allow });
    });
    app.all(path, refuse);
  }
  const unknown = responder(options, 'unknown', async () => {
    throw new Refusal('not_found', 'This path does not exist: see /swagger for the paths of the API.');
  });
  for (const path of [base, `${base}/*`]) app.all(path, unknown);
}

const noParameters = t.Object({});

/** Checks the scope and the role of the caller, and whether the session was proven recently enough. */
function withAccess({ operationId }: Operation, handle: Handle): Handle {
  const { scope, role, asksAgain = false } = accessOf(operationId);
  return async (call, request) => {
    if (scope !== null) requireScope(call.caller, scope);
    requireRole(call.caller, role);
    if (asksAgain) requireProof(call.caller);
    return handle(call, request);
  };
}

/** Reads and validates the query, then the body, and calls the operation. Whether the caller may is not checked. */
export function handlerOf(operation: Operation, parameters: readonly string[] = []): Handle {
  const { query, body, checkBody: ownCheck, readBody, handle } = operation;
  const readQuery = queryReader(query ?? noParameters, parameters);
  const checkBody = ownCheck ?? (body === undefined ? undefined : validator(body, 'body'));
  return async (call, request) =>
    handle({
      ...call,
      query: readQuery(request.url),
      body: (await readBody?.(request)) ?? (checkBody === undefined ? undefined : checkBody(await readJson(request))),
      headers: request.headers,
      signal: request.signal,
    });
}

/** Timeout of a streamed response of which the client reads nothing. */
const clientIdleSeconds = 60;

/** Elysia passes null for an id that cannot be decoded; an empty id is never found. */
const decoded = (params: Context['params'] = {}) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value ?? '']));

/** Authenticates and handles a request. Every response gets the common headers, and is logged. */
export function responder(
  { admit, log, tracing }: Pick<MountOptions, 'admit' | 'log' | 'tracing'>,
  route: string,
  handle: Handle,
  ownTimeoutMs?: number,
) {
  return traced(tracing, route, async ({ request, params, server }) => {
    const started = performance.now();
    const timeoutMs = ownTimeoutMs ?? timeouts.apiMs;
    const requestId = requestIdOf(request.headers);
    let rate: Rate | undefined;
    let account: string | undefined;
    let response: ApiResponse | StreamedResponse;
    try {
      const peer = server?.requestIP(request)?.address ?? '';
      const admitAndHandle = async () => {
        const admission = await admit(request, peer);
        rate = admission.rate;
        account = admission.caller?.account;
        if (admission.caller === undefined) throw admission.refusal;
        return handle({ caller: admission.caller, rate, params: decoded(params) }, request);
      };
      // Otherwise the connection would be closed before the 503 of a slow operation.
      if (timeoutMs >= timeouts.idleConnectionMs) server?.timeout(request, idleSeconds(timeoutMs + 1_000));
      response = await withTimeout(admitAndHandle(), timeoutMs, () => {
        throw unavailable();
      });
    } catch (error) {
      response = refusalResponse(refusalOf(error, log.child({ request_id: requestId })));
    }
    const ms = Math.round((performance.now() - started) * 10) / 10;
    log.info({ request_id: requestId, method: request.method, route, status: response.status, ms, account }, 'request');
    if ('body' in response) return toResponse(response, response.body, requestId, rate);
    server?.timeout(request, clientIdleSeconds);
    if (request.method === 'HEAD') {
      await response.pieces.return(undefined);
      return toResponse(response, null, requestId, rate);
    }
    return toResponse(response, streamOf(response.pieces, log.child({ request_id: requestId })), requestId, rate);
  });
}
