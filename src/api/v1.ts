import type { Elysia } from 'elysia';
import type { TrustedProxies } from '../lib/client-address.ts';
import type { Logger } from '../lib/logger.ts';
import { accountOperations } from './account.ts';
import { admissionControl } from './admission.ts';
import { createOperations } from './create-qrcodes.ts';
import { mount } from './mount.ts';
import { qrcodeOperations } from './qrcodes.ts';
import type { Service } from './service.ts';
import { serveSwagger } from './swagger.ts';

/** Everything under /v1, and its documentation. */
export async function serveApi(
  app: Elysia,
  service: Service,
  { trustedProxies, log }: { trustedProxies: TrustedProxies; log: Logger },
): Promise<void> {
  const [secret] = await service.sql<[{ value: Buffer }]>`SELECT value FROM secrets WHERE name = 'client_address'`;
  const operations = [...createOperations(service), ...qrcodeOperations(service), ...accountOperations(service)];
  const admit = admissionControl(service.sql, secret.value, trustedProxies);
  mount(app, operations, { admit, log });
  serveSwagger(app, service.addresses.publicUrl);
}
