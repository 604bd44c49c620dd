import type { Elysia } from 'elysia';
import { clientActor } from '../../../events/actor.ts';
import type { Admission, AdmissionControl } from '../../accounts/admission.ts';
import type { Addresses } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { invalid, Refusal } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { readJson } from '../http/body.ts';
import type { Operation } from '../http/operation.ts';
import { type ApiResponse, refusalOf, refusalResponse } from '../http/responses.ts';
import { type Handle, type MountOptions, responder } from '../mount.ts';
import { analyticsTools } from './analytics-tools.ts';
import { clientOf, sessionOf } from './client-names.ts';
import { codeTools } from './code-tools.ts';
import { imageTools } from './image-tools.ts';
import { invoker, type Operations } from './invoke.ts';
import { recordTools } from './record-tools.ts';
import type { Tool } from './tool.ts';

const path = '/mcp';

interface McpOptions extends Pick<MountOptions, 'log' | 'tracing'> {
  operations: Operation[];
  admission: AdmissionControl;
  addresses: Addresses;
  clock: Clock;
  whenReady(admit: MountOptions['admit']): MountOptions['admit'];
}

/** Serves the Model Context Protocol: tools for programs that act for a person, over streamable HTTP without sessions. */
export function serveMcp(app: Elysia, options: McpOptions): void {
  const { operations, admission, addresses, whenReady, log, tracing } = options;
  const mounted = { admit: whenReady(admitOwn(admission, addresses)), log, tracing };
  const byId: Operations = new Map(operations.map((operation) => [operation.operationId, operation]));
  // Longer than the timeout of every operation, which is the one that a client should read about.
  const timeoutMs = Math.max(timeouts.revertMs, timeouts.preflightMs) + timeouts.apiMs;
  app.post(path, responder(mounted, path, messageHandler(byId, options), timeoutMs), { parse: 'none' });
  app.all(path, refuseMethod, { parse: 'none' });
}

/** Without a key, too: clients find out by this that there are no sessions and no notifications. */
function refuseMethod(): Response {
  const refusal = new Refusal('method_not_allowed', 'This path supports only POST.', undefined, { allow: 'POST' });
  const { status, body, headers } = refusalResponse(refusal);
  const type = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return new Response(body, { status, headers: { ...type, ...headers } });
}

const mcpTools = (operations: Operations): Tool[] => [
  ...codeTools(operations),
  ...imageTools(operations),
  ...analyticsTools(operations),
  ...recordTools(operations),
];

function messageHandler(operations: Operations, { clock, log }: McpOptions): Handle {
  const tools = mcpTools(operations);
  const invokeFor = invoker(operations);
  return async ({ caller, rate }, request): Promise<ApiResponse> => {
    const message = await readJson(request);
    // Since 2025-06-18 the protocol has none. Here a batch would be many requests that count as one.
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      throw invalid([{ field: 'body', message: 'The body must be one JSON-RPC message, not a batch.' }]);
    const client = clientOf(request.headers, message);
    const actor = clientActor(caller.actor, client);
    // Loaded with the first message: it takes 29 MB, and most services never get one.
    const { answerMessage } = await import('./server.ts');
    const response = await answerMessage(tools, {
      request,
      message,
      caller: { ...caller, actor },
      invoke: invokeFor({ ...caller, actor }, rate, request.signal),
      now: clock(),
      refusalOf: (error) => refusalOf(error, log.child({ client: actor })),
    });
    const type = response.headers.get('content-type');
    return {
      status: response.status,
      body: await response.text(),
      headers: { ...sessionOf(client, message), ...(type === null ? {} : { 'content-type': type }) },
    };
  };
}

/** Admits by API key, unless a page of another site has sent the request. Pages cannot set `Origin` and `Host` themselves. */
function admitOwn(admission: AdmissionControl, addresses: Addresses): MountOptions['admit'] {
  return async (request, peer): Promise<Admission> => {
    const origin = request.headers.get('origin');
    if (origin !== null && !addresses.ownUrls.includes(origin))
      return refused(await admission.byAddress(request, peer), 'Pages of other sites cannot use this address.');
    // A site whose name leads to this machine has its own name in `Host`. Ports differ behind proxies and in containers.
    if (!isOwnHost(request.url, addresses))
      return refused(
        await admission.byAddress(request, peer),
        'The host of this address is not the service: use the one of PUBLIC_URL, which the operator sets.',
      );
    return admission.byKey(request, peer);
  };
}

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

function isOwnHost(url: string, { ownUrls }: Addresses): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return loopbackHosts.includes(hostname) || ownUrls.some((own) => new URL(own).hostname === hostname);
}

const refused = (counted: Admission, message: string): Admission => ({
  rate: counted.rate,
  refusal: counted.refusal ?? new Refusal('origin_not_allowed', message),
});
