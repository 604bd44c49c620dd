import type { Elysia } from 'elysia';
import { Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { Admission, Rate } from './admission.ts';
import {
  type Answer,
  refusalAnswer,
  refusalOf,
  type StreamedAnswer,
  streamOf,
  toResponse,
  unavailable,
} from './answers.ts';
import { readJson } from './body.ts';
import { describe } from './openapi.ts';
import type { Call, Method, Operation } from './operation.ts';
import { queryReader, validator } from './validate.ts';

interface Context {
  request: Request;
  params?: Record<string, string | null>;
  server: {
    requestIP(request: Request): { address: string } | null;
    timeout(request: Request, seconds: number): void;
  } | null;
}

type Handle = (
  call: Pick<Call<never, never>, 'caller' | 'rate' | 'params'>,
  request: Request,
) => Promise<Answer | StreamedAnswer>;

/** A way to the operations: where it is, and whom it lets in. */
export interface Entrance {
  base: '/v1' | '/console/api';
  admit(request: Request, peer: string): Promise<Admission>;
  log: Logger;
}

const hidden = { detail: { hide: true } };

/** Serves every operation, and every other path and method under the entrance's base with the error it deserves. */
export function mount(app: Elysia, operations: Operation[], entrance: Entrance): void {
  const { base } = entrance;
  const methods = new Map<string, Method[]>();
  for (const operation of operations) {
    const { method } = operation;
    const path = base + operation.path.slice('/v1'.length);
    const respond = responder(entrance, path, handlerOf(operation), operation.answerWithinMs);
    app.route(method, path, respond, base === '/v1' ? { detail: describe(operation) } : hidden);
    if (method === 'GET') app.route('HEAD', path, respond, hidden);
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, known] of methods) {
    const allow = known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    const refuse = responder(entrance, path, async () => {
      throw new Refusal('method_not_allowed', `This path takes only ${allow}.`, undefined, { allow });
    });
    app.all(path, refuse, hidden);
  }
  const unknown = responder(entrance, 'unknown', async () => {
    throw new Refusal('not_found', 'There is no such path: see /swagger for those that exist.');
  });
  for (const path of [base, `${base}/*`]) app.all(path, unknown, hidden);
}

/** Reads and checks what the operation takes, in the order in which a client can mend it. */
function handlerOf({ query, body, checkBody: ownCheck, handle }: Operation): Handle {
  const readQuery = query === undefined ? undefined : queryReader(query);
  const checkBody = ownCheck ?? (body === undefined ? undefined : validator(body, 'body'));
  return async (call, request) => {
    return handle({
      ...call,
      query: readQuery?.(request.url) ?? {},
      body: checkBody === undefined ? undefined : checkBody(await readJson(request)),
      headers: request.headers,
      signal: request.signal,
    });
  };
}

/** A database that hangs must not make clients wait until Bun hangs up on them, which it does after 10 s. */
const usuallyWithinMs = 8_000;

/** A client that takes nothing of a long answer for this long is gone. */
const clientIdleSeconds = 60;

/** The parts of a path; an id that cannot be decoded, for which Elysia has null, is the id of nothing. */
const decoded = (params: Context['params'] = {}) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value ?? '']));

/** Lets the request in, handles it, and sees to it that every answer has its headers and its line in the log. */
function responder({ admit, log }: Entrance, route: string, handle: Handle, withinMs = usuallyWithinMs) {
  return async ({ request, params, server }: Context): Promise<Response> => {
    const started = performance.now();
    const requestId = requestIdOf(request.headers);
    let rate: Rate | undefined;
    let account: string | undefined;
    let answer: Answer | StreamedAnswer;
    try {
      const peer = server?.requestIP(request)?.address ?? '';
      const answering = async () => {
        const admission = await admit(request, peer);
        rate = admission.rate;
        account = admission.caller?.account;
        if (admission.caller === undefined) throw admission.refusal;
        return handle({ caller: admission.caller, rate, params: decoded(params) }, request);
      };
      if (withinMs > usuallyWithinMs) server?.timeout(request, Math.ceil(withinMs / 1000) + 1);
      answer = await withTimeout(answering(), withinMs, () => {
        throw unavailable();
      });
    } catch (error) {
      answer = refusalAnswer(refusalOf(error, log.child({ request_id: requestId })));
    }
    const ms = Math.round((performance.now() - started) * 10) / 10;
    log.info({ request_id: requestId, method: request.method, route, status: answer.status, ms, account }, 'request');
    if ('body' in answer) return toResponse(answer, answer.body, requestId, rate);
    server?.timeout(request, clientIdleSeconds);
    const body = request.method === 'HEAD' ? null : streamOf(answer.pieces, log.child({ request_id: requestId }));
    return toResponse(answer, body, requestId, rate);
  };
}
