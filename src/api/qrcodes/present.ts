import type { Static } from '@sinclair/typebox';
import { actorParts } from '../../../events/actor.ts';
import { differenceOf } from '../../../events/code-change.ts';
import type { CodeEvent } from '../../../events/code-events.ts';
import { encodeFieldsOf } from '../../../events/code-fields.ts';
import { domainOf, shortCodeOf, urlOfLink } from '../../../events/link.ts';
import type { Recorded } from '../../../events/recorded.ts';
import type { Disabled } from '../../codes/blocked-hosts.ts';
import { availabilityOf, type CountedCode } from '../../codes/codes.ts';
import type { PastCode } from '../../codes/list-as-of.ts';
import type { Addresses } from '../../config/config.ts';
import type { HistoryEntry, ListedQrCode, QrCode } from './qrcode-schemas.ts';

/** Conversion of stored codes and events to the schemas of the API. */

/**
 * A code as create and change return it: `availability` only if one of the fields beside the contract's is set. `block` is
 * the block of the host of the destination, which disables the code like a takedown.
 */
export function presentCode(
  code: CountedCode,
  addresses: Addresses,
  { now, block }: { now: Date; block?: Disabled | undefined },
): Static<typeof QrCode> {
  const optional = presentOptional(code);
  return {
    ...presentPlain(code, addresses, block),
    ...(Object.keys(optional).length === 0 ? {} : { availability: availabilityOf(code, now) }),
    ...optional,
  };
}

/** A code as the single read and a restore return it: always with `availability` and `version`. */
export const presentRead = (
  code: CountedCode,
  addresses: Addresses,
  { now, block }: { now: Date; block: Disabled | undefined },
): Static<typeof QrCode> => ({
  ...presentPlain(code, addresses, block),
  version: code.version,
  availability: availabilityOf(code, now),
  ...presentOptional(code),
  ...presentImported(code),
});

const presentImported = ({ imported_at, imported_scans }: CountedCode) => ({
  ...(imported_at === null ? {} : { imported_at: imported_at.toISOString() }),
  ...(imported_scans === null ? {} : { imported_scans }),
});

const presentOptional = (code: CountedCode) => ({
  ...encodeFieldsOf(code),
  ...(code.max_scans === null ? {} : { remaining_scans: Math.max(0, code.max_scans - (code.used_scans ?? 0)) }),
});

function presentPlain(code: CountedCode, { shortBaseUrl, imageBaseUrl }: Addresses, block?: Disabled) {
  return {
    id: code.id,
    name: code.name,
    destination_url: code.destination_url,
    short_code: shortCodeOf(code.short_code),
    short_url: urlOfLink(code.short_code, shortBaseUrl),
    ...presentDomain(code),
    image_url: `${imageBaseUrl}/${code.id}/public`,
    status: code.status as Static<typeof QrCode>['status'],
    active: code.status === 'active',
    total_scans: code.total_scans,
    unique_scans: code.unique_scans,
    created_at: code.created_at.toISOString(),
    updated_at: code.updated_at.toISOString(),
    style: code.style,
    ...(code.has_password ? { has_password: true } : {}),
    ...presentDisabled(code, block),
  };
}

/** Only for a code on a custom domain. */
function presentDomain({ short_code }: Pick<CountedCode, 'short_code'>): { domain?: string } {
  const domain = domainOf(short_code);
  return domain === undefined ? {} : { domain };
}

/** A takedown, whose reason is about this code, is shown before a block. */
function presentDisabled({ disabled_reason, disabled_at }: CountedCode, block: Disabled | undefined) {
  const takedown =
    disabled_reason === null || disabled_at === null ? undefined : { reason: disabled_reason, at: disabled_at };
  const disabled = takedown ?? block;
  return disabled === undefined ? {} : { disabled: { reason: disabled.reason, at: disabled.at.toISOString() } };
}

export const presentListed = (
  code: PastCode & { total_scans: number },
  { shortBaseUrl }: Addresses,
): Static<typeof ListedQrCode> => ({
  id: code.id,
  name: code.name,
  destination_url: code.destination_url,
  short_url: urlOfLink(code.short_code, shortBaseUrl),
  ...presentDomain(code),
  status: code.status as Static<typeof ListedQrCode>['status'],
  total_scans: code.total_scans,
  created_at: code.created_at.toISOString(),
});

export function presentPage<T>(data: T[], { page, limit }: { page: number; limit: number }, total: number) {
  return { data, pagination: { page, limit, total, total_pages: Math.ceil(total / limit) } };
}

/** `names` come from `actorNames`. */
export function presentHistory(
  event: Recorded<CodeEvent>,
  names: ReadonlyMap<string, string>,
): Static<typeof HistoryEntry> {
  const { type, version, occurred_at, actor } = event;
  const { id, client } = actorParts(actor);
  return {
    id: event.id,
    event: type,
    version,
    timestamp: occurred_at.toISOString(),
    ...differenceOf(event),
    key_id: id,
    ...(client === undefined ? {} : { client }),
    actor,
    actor_name: names.get(actor) ?? null,
  };
}
