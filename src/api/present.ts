import type { Static } from '@sinclair/typebox';
import type { CodeEvent } from '../../events/code.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { Disabled } from '../codes/blocked-hosts.ts';
import type { CountedCode } from '../codes/codes.ts';
import type { Addresses } from '../config.ts';
import type { HistoryEntry, ListedQrCode, QrCode } from './schemas.ts';

/** Conversion of stored codes and events to the schemas of the API. */

/** `block` is that of the host of the destination, which disables the code like a takedown. */
export function presentCode(
  code: CountedCode,
  { shortBaseUrl, imageBaseUrl }: Addresses,
  block?: Disabled,
): Static<typeof QrCode> {
  return {
    id: code.id,
    name: code.name,
    destination_url: code.destination_url,
    short_code: code.short_code,
    short_url: `${shortBaseUrl}/${code.short_code}`,
    image_url: `${imageBaseUrl}/${code.id}/public`,
    status: code.status as Static<typeof QrCode>['status'],
    active: code.status === 'active',
    total_scans: code.total_scans,
    unique_scans: code.unique_scans,
    created_at: code.created_at.toISOString(),
    updated_at: code.updated_at.toISOString(),
    style: code.style,
    ...presentDisabled(code, block),
  };
}

/** A takedown, whose reason is about this code, is shown before a block. */
function presentDisabled({ disabled_reason, disabled_at }: CountedCode, block: Disabled | undefined) {
  const takedown =
    disabled_reason === null || disabled_at === null ? undefined : { reason: disabled_reason, at: disabled_at };
  const disabled = takedown ?? block;
  return disabled === undefined ? {} : { disabled: { reason: disabled.reason, at: disabled.at.toISOString() } };
}

export function presentListed(code: CountedCode, addresses: Addresses): Static<typeof ListedQrCode> {
  const { id, name, destination_url, short_url, status, total_scans, created_at } = presentCode(code, addresses);
  return { id, name, destination_url, short_url, status, total_scans, created_at };
}

export function presentPage<T>(data: T[], { page, limit }: { page: number; limit: number }, total: number) {
  return { data, pagination: { page, limit, total, total_pages: Math.ceil(total / limit) } };
}

export function presentHistory(event: Recorded<CodeEvent>): Static<typeof HistoryEntry> {
  const common = { id: event.id, event: event.type, timestamp: event.occurred_at.toISOString() };
  return { ...common, ...changeOf(event), key_id: event.actor };
}

function changeOf(event: CodeEvent): { field: string | null; from: unknown; to: unknown } {
  switch (event.type) {
    case 'code_created': {
      const { name, destination_url, short_code, status, style } = event.data;
      return { field: null, from: null, to: { name, destination_url, short_code, status, style } };
    }
    case 'code_renamed':
      return { field: 'name', ...event.data };
    case 'destination_changed':
      return { field: 'destination_url', from: event.data.from, to: event.data.to };
    case 'code_paused':
      return { field: 'status', from: 'active', to: 'paused' };
    case 'code_resumed':
      return { field: 'status', from: 'paused', to: 'active' };
    case 'code_published':
      return { field: 'status', from: 'draft', to: 'active' };
    case 'code_disabled':
      return { field: 'disabled', from: null, to: event.data.reason };
    case 'code_enabled':
      return { field: 'disabled', from: null, to: null };
    case 'code_deleted':
    case 'code_erased':
      return { field: null, from: null, to: null };
  }
}
