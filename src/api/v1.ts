import type { Elysia } from 'elysia';
import { type AdmissionControl, admissionControl } from '../accounts/admission.ts';
import type { TrustedProxies } from '../lib/client-address.ts';
import { retryLater } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { createProofs } from '../proof/proofs.ts';
import { Renderer } from '../render/renderer.ts';
import { accountOperations } from './account/account.ts';
import { auditOperations } from './account/audit.ts';
import { eventOperations } from './account/events.ts';
import { alertOperations } from './alerts/alerts.ts';
import { analyticsOperations } from './analytics/operations.ts';
import { domainOperations } from './domains/domains.ts';
import type { Operation } from './http/operation.ts';
import { createImages } from './images/images.ts';
import { logoOperations } from './images/logos.ts';
import { preflightOperations } from './images/preflight.ts';
import { sheetOperations } from './images/sheets.ts';
import { drawStaticCode } from './images/static.ts';
import { serveMcp } from './mcp/serve.ts';
import { type MountOptions, mount } from './mount.ts';
import { serveSwagger } from './openapi/swagger.ts';
import { bulkUpdateQrCodes } from './qrcodes/bulk-update.ts';
import { createOperations } from './qrcodes/create-qrcodes.ts';
import { duplicateQrCode } from './qrcodes/duplicate.ts';
import { importOperation } from './qrcodes/import-links.ts';
import { qrcodeOperations } from './qrcodes/qrcodes.ts';
import { targetingOperations } from './qrcodes/targeting.ts';
import { reportOperations } from './reports/reports.ts';
import type { Service } from './service.ts';
import { serveShares } from './shares/serve.ts';
import { shareOperations } from './shares/shares.ts';
import { serveUnsubscribing } from './unsubscribe.ts';
import { webhookOperations } from './webhooks/webhook.ts';
import { replayOperations } from './webhooks/webhook-replays.ts';
import { subscriptionOperations } from './webhooks/webhooks.ts';

interface ApiOptions {
  trustedProxies: TrustedProxies;
  log: Logger;
  /** Whether the database is migrated and SECRET_KEY is its key. */
  isReady(): boolean;
}

/** What the console needs to serve the same operations under its own path. */
export interface Api {
  operations: Operation[];
  admission: AdmissionControl;
  drawImage: ReturnType<typeof createImages>['drawImage'];
  /** Whether the database is migrated and SECRET_KEY is its key. */
  isReady(): boolean;
  /** Answers 503 until `isReady`, then calls `admit`. */
  whenReady(admit: MountOptions['admit']): MountOptions['admit'];
  close(): void;
}

/** Serves everything under /v1, its documentation, the Model Context Protocol, and the public images. */
export function serveApi(app: Elysia, service: Service, { trustedProxies, log, isReady }: ApiOptions): Api {
  const renderer = new Renderer();
  const images = createImages(service, renderer);
  const proofs = createProofs((request, account) => renderer.run('proof', () => request, { account }));
  const operations = [
    ...createOperations(service, proofs),
    importOperation(service),
    duplicateQrCode(service, proofs),
    bulkUpdateQrCodes(service),
    ...qrcodeOperations(service),
    ...targetingOperations(service),
    images.download,
    ...logoOperations(service, renderer),
    ...preflightOperations(service, proofs),
    ...sheetOperations(service, renderer),
    drawStaticCode(service, renderer, proofs),
    ...analyticsOperations(service),
    ...domainOperations(service),
    ...accountOperations(service),
    ...auditOperations(service),
    ...eventOperations(service),
    ...subscriptionOperations(service),
    ...replayOperations(service),
    ...webhookOperations(service),
    ...shareOperations(service),
    ...alertOperations(service),
    ...reportOperations(service, renderer),
  ];
  const admission = admissionControl(service.sql, service.webhooks.box, trustedProxies);
  const whenReady: Api['whenReady'] = (admit) => async (request, peer) => {
    if (isReady()) return admit(request, peer);
    throw retryLater('The service is starting: try again in a moment.', 1);
  };
  mount(app, operations, { base: '/v1', admit: whenReady(admission.byKey), log, tracing: service.tracing });
  const { addresses, clock, tracing } = service;
  serveMcp(app, { operations, admission, addresses, clock, whenReady, log, tracing });
  images.servePublic(app, { log, trustedProxies });
  serveShares(app, { service, admission, trustedProxies, log, isReady });
  serveUnsubscribing(app, { service, log, isReady });
  serveSwagger(app, operations);
  return {
    operations,
    admission,
    drawImage: images.drawImage,
    isReady,
    whenReady,
    close: () => renderer.close(),
  };
}
