export { Scanlog, type ScanlogOptions } from './client.ts';
export { each, type ListOperation, type ListPage } from './each.ts';
export { type ErrorCode, type ErrorDetail, isScanlogError, ScanlogError } from './errors.ts';
export { type Followed, type FollowOptions, follow } from './follow.ts';
export * from './generated/sdk.gen.ts';
export type * from './generated/types.gen.ts';
export { type SignedRequest, verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhook.ts';
