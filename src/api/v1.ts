import type { Elysia } from 'elysia';
import type { TrustedProxies } from '../lib/client-address.ts';
import { Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { accountOperations } from './account.ts';
import { admissionControl } from './admission.ts';
import { analyticsOperations } from './analytics.ts';
import { createOperations } from './create-qrcodes.ts';
import { createImages } from './images.ts';
import { mount } from './mount.ts';
import { qrcodeOperations } from './qrcodes.ts';
import type { Service } from './service.ts';
import { serveSwagger } from './swagger.ts';
import { webhookOperations } from './webhook.ts';

interface ApiOptions {
  trustedProxies: TrustedProxies;
  log: Logger;
  /** Whether the database is there and up to date. */
  isReady(): boolean;
}

/** Everything under /v1, its documentation, and the public images. Answers with what ends it. */
export function serveApi(
  app: Elysia,
  service: Service,
  { trustedProxies, log, isReady }: ApiOptions,
): () => Promise<void> {
  const images = createImages(service);
  const operations = [
    ...createOperations(service),
    ...qrcodeOperations(service),
    images.download,
    ...analyticsOperations(service),
    ...accountOperations(service),
    ...webhookOperations(service),
  ];
  const admission = admissionControl(service.sql, trustedProxies);
  const admit: typeof admission = (headers, peer) => {
    if (isReady()) return admission(headers, peer);
    throw new Refusal('unavailable', 'The service is starting: try again in a moment.', undefined, {
      'retry-after': '1',
    });
  };
  mount(app, operations, { admit, log });
  images.servePublic(app, log);
  serveSwagger(app);
  app.get('/', () => new Response(null, { status: 302, headers: { location: '/swagger' } }), {
    detail: { hide: true },
  });
  return images.close;
}
