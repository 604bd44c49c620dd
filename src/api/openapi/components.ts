import type { TSchema } from '@sinclair/typebox';
import { StyleSchema } from '../../../events/style.ts';
import { RuleSchema, UtmSchema, WhenSchema } from '../../../events/targeting/targeting-schema.ts';
import { Account } from '../account/account-schemas.ts';
import { AuditEvent, Event, eventSchemas } from '../account/event-schemas.ts';
import { ApiKey, CreatedApiKey, KeyRotation, NewApiKey, RotatedApiKey } from '../account/key-schemas.ts';
import { CreatedInvitation, Invitation, Member, MemberChange, NewInvitation } from '../account/member-schemas.ts';
import { RevertRequest, RevertResponse } from '../account/revert.ts';
import { Alert, AlertChange, NewAlert, RaisedAlert } from '../alerts/schemas.ts';
import {
  AccountExportFile,
  AccountHeatMap,
  AccountTimeSeries,
  Aggregate,
  CodeFigures,
  Destinations,
  ExportFile,
  HeatMap,
  OwnedScanRecord,
  PeriodShape,
  ScanRecord,
  Summary,
  SummaryFigures,
  TimeSeries,
} from '../analytics/schemas.ts';
import { Domain, DomainChange, NewDomain } from '../domains/domain-schemas.ts';
import { Deleted, ErrorResponse } from '../http/schemas.ts';
import { CreatedLogo, ListedLogo } from '../images/logos.ts';
import { NewPreflight, Preflight } from '../images/preflight-schemas.ts';
import { NewSheet } from '../images/sheet-request.ts';
import { NewStaticCode } from '../images/static.ts';
import { BulkUpdateRequest, BulkUpdateResponse } from '../qrcodes/bulk-update-schemas.ts';
import { NewQrCode, NewQrCodes, QrCodeChange, QrCodeDuplicate, RestoreRequest } from '../qrcodes/qrcode-requests.ts';
import {
  CreatedQrCode,
  HistoryEntry,
  ListedQrCode,
  PastListedQrCode,
  PastQrCode,
  QrCode,
} from '../qrcodes/qrcode-schemas.ts';
import { NewRule } from '../qrcodes/targeting-schemas.ts';
import { NewReport, Report, ReportChange } from '../reports/schemas.ts';
import { NewShare, Share, ShareChange } from '../shares/schemas.ts';
import { DeletedWebhook, Delivery, NewWebhook, ScanEvent, Webhook, WebhookTest } from '../webhooks/webhook-schemas.ts';
import {
  DeletedSubscription,
  eventBodies,
  NewReplay,
  NewSubscription,
  Replay,
  Subscription,
  SubscriptionChange,
  SubscriptionDelivery,
  SubscriptionTest,
} from '../webhooks/webhooks-schemas.ts';

/** Named schemas: generated clients use the names, and references keep the document small. */
export const components: Record<string, TSchema> = {
  QrCode,
  ListedQrCode,
  CreatedQrCode,
  NewQrCode,
  NewQrCodes,
  QrCodeChange,
  QrCodeDuplicate,
  HistoryEntry,
  Deleted,
  PastQrCode,
  PastListedQrCode,
  RestoreRequest,
  RevertRequest,
  RevertAnswer: RevertResponse,
  BulkUpdateRequest,
  BulkUpdateAnswer: BulkUpdateResponse,
  Style: StyleSchema,
  Rule: RuleSchema,
  NewRule,
  RuleConditions: WhenSchema,
  Utm: UtmSchema,
  Preflight,
  NewPreflight,
  NewSheet,
  NewStaticCode,
  Share,
  NewShare,
  ShareChange,
  Alert,
  NewAlert,
  AlertChange,
  RaisedAlert,
  Report,
  NewReport,
  ReportChange,
  Period: PeriodShape,
  SummaryFigures,
  Summary,
  ScanRecord,
  TimeSeries,
  HeatMap,
  Destinations,
  ExportFile,
  Aggregate,
  CodeFigures,
  OwnedScanRecord,
  AccountTimeSeries,
  AccountHeatMap,
  AccountExportFile,
  CreatedLogo,
  ListedLogo,
  Domain,
  NewDomain,
  DomainChange,
  Account,
  ApiKey,
  CreatedApiKey,
  RotatedApiKey,
  KeyRotation,
  NewApiKey,
  Member,
  MemberChange,
  Invitation,
  CreatedInvitation,
  NewInvitation,
  Error: ErrorResponse,
  Event,
  AuditEvent,
  ...eventSchemas,
  Webhook,
  NewWebhook,
  DeletedWebhook,
  WebhookTest,
  Delivery,
  Subscription,
  NewSubscription,
  SubscriptionChange,
  DeletedSubscription,
  SubscriptionTest,
  SubscriptionDelivery,
  Replay,
  NewReplay,
  ...Object.fromEntries(eventBodies.map(({ schemaName, schema }) => [schemaName, schema])),
  ScanEvent,
};
/** By content, because `t.Optional` copies a schema. */
const names = new Map(Object.entries(components).map(([name, schema]) => [JSON.stringify(schema), name]));

/** A reference to a named schema; any other schema, with references to the named schemas in it. */
export function refTo(schema: TSchema): object {
  const name = names.get(JSON.stringify(schema));
  return name === undefined ? withReferences(schema) : { $ref: `#/components/schemas/${name}` };
}

export function withReferences(schema: TSchema): object {
  const properties = Object.entries<TSchema>(schema['properties'] ?? {});
  return {
    ...schema,
    ...(schema['items'] === undefined ? {} : { items: refTo(schema['items']) }),
    ...(schema['anyOf'] === undefined ? {} : { anyOf: schema['anyOf'].map(refTo) }),
    ...(properties.length === 0
      ? {}
      : { properties: Object.fromEntries(properties.map(([name, property]) => [name, refTo(property)])) }),
  };
}

/** The example of the schema, or one composed of the examples of its required parts. */
function exampleOf(schema: TSchema): unknown {
  const [own] = schema['examples'] ?? [];
  if (own !== undefined) return own;
  if (schema['const'] !== undefined) return schema['const'];
  if (schema['enum'] !== undefined) return schema['enum'][0];
  if (schema['anyOf'] !== undefined) return exampleOf(schema['anyOf'][0]);
  const required: string[] = schema['required'] ?? [];
  switch (schema['type']) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, exampleOf(schema['properties'][name])]));
    case 'array':
      return [exampleOf(schema['items'])];
    case 'boolean':
      return true;
    default:
      throw new Error(`This schema needs an example: ${JSON.stringify(schema)}`);
  }
}

/** A body in JSON. */
export const content = (schema: TSchema) => ({
  'application/json': { schema: refTo(schema), example: exampleOf(schema) },
});

/** A header of a response. */
export const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === 'number' ? 'integer' : 'string' },
  example,
});
