import { displayDestination } from '../codes/destination.ts';
import type { HistoryEntry, QrCode } from '../types.ts';
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
