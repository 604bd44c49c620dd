import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Caller } from '../../accounts/admission.ts';
import type { Refusal } from '../../lib/errors.ts';
import { validator } from '../http/validate.ts';
import type { Invoke } from './invoke.ts';
import type { Tool, ToolResponse } from './tool.ts';

const instructions =
  'Scanlog makes dynamic QR codes: each has a short link whose destination can be changed after the code is printed, and every scan is counted. Begin with find_codes, which returns the ids that other tools need. Everything except delete_code can be undone with undo. Codes made with a test key are apart from live ones.';

/** Everything that one message needs. */
export interface Exchange {
  request: Request;
  /** The body of the request. */
  message: unknown;
  caller: Caller;
  invoke: Invoke;
  now: Date;
  /** Converts what a tool throws to the error that the client receives. */
  refusalOf(error: unknown): Refusal;
}

/** Answers one message of the Model Context Protocol. Nothing is kept between messages. */
export function answerMessage(tools: readonly Tool[], exchange: Exchange): Promise<Response> {
  const { request, message, caller } = exchange;
  const listed = tools.filter((tool) => isAllowed(tool, caller));
  // A stream of notifications would stay open, and there is nothing to notify clients of.
  const handler = createMcpHandler(() => serverOf(listed, exchange), { maxSubscriptions: 0 });
  return handler.fetch(request, { parsedBody: message });
}

/** A key without scopes may do everything that can be undone; to delete, it must be limited to scopes that say so. */
function isAllowed({ scope, effect }: Tool, { scopes }: Caller): boolean {
  if (scopes === null) return effect !== 'deletes';
  return scopes.includes(scope);
}

function serverOf(tools: readonly Tool[], { caller, invoke, now, refusalOf }: Exchange): Server {
  const server = new Server(
    { name: 'scanlog', title: 'Scanlog', version: packageJson.version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(describe) }));
  server.setRequestHandler(
    'tools/call',
    async ({ params: { name, arguments: given = {} } }): Promise<CallToolResult> => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `There is no tool ${name} for this API key: its scopes decide which tools are listed.`,
        );
      try {
        const input = validator(tool.input, 'arguments')(given);
        return resultOf(await tool.run({ input, invoke, caller, now }));
      } catch (error) {
        return errorResult(refusalOf(error));
      }
    },
  );
  return server;
}

/** Keywords of ours mean nothing to clients, and a model reads the list of tools before each task: examples are a tenth of it. */
const withoutExtras = (name: string, value: unknown) =>
  name.startsWith('x-') || name === 'examples' ? undefined : value;

function describe({ name, title, description, input, effect }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: { type: 'object' as const, ...JSON.parse(JSON.stringify(input, withoutExtras)) },
    annotations: {
      title,
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'deletes',
      openWorldHint: false,
    },
  };
}

/** The values as they are and, for clients that show only content, as text; files as content of their own. */
function resultOf({ value, image, file }: ToolResponse): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(value) }];
  if (image !== undefined) content.push({ type: 'image', data: base64(image.bytes), mimeType: image.type });
  if (file !== undefined)
    content.push({ type: 'resource', resource: { uri: file.uri, mimeType: file.type, blob: base64(file.bytes) } });
  return { content, structuredContent: value };
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** A model can correct a call if it reads what was wrong with it; an error of the protocol would only reach the client. */
function errorResult({ code, message, details }: Refusal): CallToolResult {
  const error = { code, message, ...(details === undefined ? {} : { details }) };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }], structuredContent: { error } };
}
