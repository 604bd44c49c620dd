import { Copy } from '../parts/copy.tsx';
import { currentMode } from '../router.ts';
import { bootstrap } from '../welcome.ts';

/** How to connect a program that speaks the Model Context Protocol. */
export function McpSetup() {
  const url = new URL('/mcp', bootstrap.public_url).href;
  const key = `sk_${currentMode()}_…`;
  const headers = { Authorization: `Bearer ${key}` };
  const configuration = JSON.stringify({ mcpServers: { scanlog: { type: 'http', url, headers } } }, undefined, 2);
  return (
    <details class="card key-details">
      <summary>Connect an assistant (MCP)</summary>
      <div class="stack">
        <p>
          Claude, Cursor, VS Code and other programs that speak the Model Context Protocol can find, create and change
          codes and read analytics for you. Give each one a key of its own: its scopes decide what the program can do,
          and the history shows what it did.
        </p>
        <p>
          Address: <code class="wrapped">{url}</code> <Copy text={url} label="Copy MCP address" />
        </p>
        <p class="hint">Configuration, with the key in place of {key}:</p>
        <code class="block">{configuration}</code>
        <div class="row actions">
          <Copy text={configuration} label="Copy MCP configuration">
            Copy
          </Copy>
          <a class="button" href="/console/docs/mcp.md" target="_blank" rel="noreferrer">
            Set up your program
          </a>
        </div>
      </div>
    </details>
  );
}
