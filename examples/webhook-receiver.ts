/**
 * Receives webhooks: verifies each request, handles an event once, and answers fast.
 *
 *   WEBHOOK_SECRET=whsec_… PORT=8080 bun examples/webhook-receiver.ts
 */
import { createServer, type IncomingMessage } from 'node:http';
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@scanlog/client';

const secret = process.env['WEBHOOK_SECRET'] ?? '';
const maxBodyBytes = 1_000_000;
/** Ids of requests that were handled. A real receiver keeps them in its database, in the transaction of what it does. */
const handled = new Set<string>();

const server = createServer(async (request, response) => {
  try {
    const body = await bodyOf(request);
    const event = await verifyWebhook({ body, headers: request.headers, secret });
    // An event may arrive more than once, always under the same id.
    const id = String(request.headers['webhook-id']);
    if (!handled.has(id)) handle(event);
    handled.add(id);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
    console.error(String(error));
  }
});

function handle(event: WebhookEvent): void {
  // The webhook of /v1/account/webhook has `event` in place of `type`.
  const type = 'type' in event ? event.type : event.event;
  console.log(type, JSON.stringify(event.data));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error('The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

server.listen(Number(process.env['PORT'] ?? 8080), () => console.log('listening on', server.address()));
