import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import type { Json } from './api.ts';

interface McpOptions {
  /** The name that the client gives itself. */
  name?: string;
  /** Before 2026-07-28 the protocol begins with a handshake. */
  mode?: VersionNegotiationMode;
}

/** The official client of the protocol, connected to a service with an API key until the end of the test. */
export async function mcpClient(url: string, key: string, { name = 'Test Client', mode = 'auto' }: McpOptions = {}) {
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  onTestFinished(() => client.close());

  const send = async (tool: string, args: Record<string, unknown> = {}): Promise<Json> =>
    client.callTool({ name: tool, arguments: args });

  return {
    client,
    tools: async () => (await client.listTools()).tools,
    /** The response with its content. */
    send,
    /** The values of a call that succeeds. */
    async call(tool: string, args: Record<string, unknown> = {}): Promise<Json> {
      const { isError, structuredContent, content } = await send(tool, args);
      expect(isError ?? false, JSON.stringify(content)).toBe(false);
      expect(JSON.parse(content[0].text), 'the text has the same values').toEqual(structuredContent);
      return structuredContent;
    },
    /** The error of a call that fails. */
    async refused(tool: string, args: Record<string, unknown> = {}): Promise<Json> {
      const { isError, structuredContent } = await send(tool, args);
      expect(isError, JSON.stringify(structuredContent)).toBe(true);
      return structuredContent.error;
    },
  };
}
