import { displayDestination } from '../codes/destination.ts';
import type { ApiKey, HistoryEntry, QrCode } from '../types.ts';
import { fieldChange } from './field-changes.tsx';

/** A change in words. */
export function changeText(entry: HistoryEntry) {
  const { event, to } = entry;
  switch (event) {
    case 'code_created':
      return (
        <>
          <strong>Created</strong> with destination{' '}
          <span class="wrapped">{displayDestination((to as QrCode).destination_url)}</span>
        </>
      );
    case 'code_restored':
      return <strong>Restored version {String(to)}</strong>;
    case 'code_paused':
      return <strong>Paused</strong>;
    case 'code_resumed':
      return <strong>Resumed</strong>;
    case 'code_published':
      return <strong>Published</strong>;
    case 'limit_reached':
      return <strong>Limit reached</strong>;
    default:
      return fieldChange(entry) ?? <strong>{sentenceCase(event)}</strong>;
  }
}

const sentenceCase = (event: string) => event.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Who made a change, with the MCP client if one did. */
export const actorName = (
  { key_id, client }: { key_id: string; client?: string | undefined },
  keys: ApiKey[] | undefined,
) => (client === undefined ? keyName(key_id, keys) : `${client} with ${keyName(key_id, keys)}`);

function keyName(id: string, keys: ApiKey[] | undefined): string {
  if (id === 'operator') return 'the operator';
  const key = keys?.find((candidate) => candidate.id === id);
  if (key !== undefined) return `${key.name} (…${key.last4}${key.revoked_at === undefined ? '' : ', revoked'})`;
  return keys === undefined ? '…' : 'a key of the other mode';
}
