import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type * as Client from '../../clients/typescript/src/index.ts';
import { bundleClient } from '../../src/cli/client.ts';
import { newSigningSecret } from '../../src/webhooks/secrets.ts';
import { signedHeaders } from '../../src/webhooks/signature.ts';
import { useBrowser } from '../support/browser.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const browser = useBrowser();

interface Given {
  origin: string;
  module: string;
  key: string;
  signed: Client.SignedRequest;
}

/** Runs in the page. */
async function useClient({ origin, module, key, signed }: Given) {
  const url = URL.createObjectURL(new Blob([module], { type: 'text/javascript' }));
  const { createQrCodes, each, follow, getQrCode, isScanlogError, listQrCodes, Scanlog, verifyWebhook }: typeof Client =
    await import(url);
  const client = new Scanlog({ key, baseUrl: origin });
  const qrcodes = ['A', 'B', 'C'].map((name) => ({ name, destination_url: 'https://example.com' }));
  await createQrCodes({ client, body: { qrcodes } });
  const names: string[] = [];
  for await (const { name } of each(listQrCodes, { client, query: { limit: 2, sort: 'name' } })) names.push(name);
  const types: string[] = [];
  for await (const { event } of follow({ client, query: { types: 'code.created' } }))
    if (types.push(event.type) === 3) break;
  const missing = await getQrCode({ client, path: { id: 'qr_none' } }).catch((error: unknown) => error);
  return { names, types, isMissing: isScanlogError(missing, 'not_found'), webhook: await verifyWebhook(signed) };
}

test('the client creates, lists, follows and verifies in a browser', async () => {
  const [url] = service.urls as [string];
  const { keys } = await service.account();
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-client-'));
  await bundleClient(folder);
  const module = readFileSync(join(folder, 'index.js'), 'utf8');
  rmSync(folder, { recursive: true });
  const secret = newSigningSecret();
  const body = JSON.stringify({ type: 'scan.created' });
  const headers = signedHeaders({ id: 'evt_1', at: new Date(), body, secrets: [secret] });

  const { page, close } = await browser.open();
  await page.goto(`${url}/healthz`);
  const signed = { body, headers, secret };
  const result = await page.evaluate(useClient, { origin: url, module, key: keys.live, signed });
  await close(url);

  const types = ['code.created', 'code.created', 'code.created'];
  expect(result).toEqual({ names: ['A', 'B', 'C'], types, isMissing: true, webhook: { type: 'scan.created' } });
});
