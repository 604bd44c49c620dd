import type { Subscription } from '../types.ts';

type EventType = Subscription['events'][number];

/** What each type of event means, in the words of the console. A missing type does not compile. */
const descriptions: Record<EventType, string> = {
  'scan.created': 'A code was scanned',
  'code.created': 'A code was created',
  'code.updated': 'Name, destination, rules, schedule, tags or note of a code changed',
  'code.paused': 'A code was paused',
  'code.resumed': 'A paused code was resumed',
  'code.published': 'A draft went live',
  'code.restored': 'An earlier version of a code was brought back',
  'code.limit_reached': 'A code reached its limit of scans',
  'code.disabled': 'The operator took a code down',
  'code.enabled': 'The operator restored a code',
  'code.deleted': 'A code was deleted',
  'alert.raised': 'An alert has found something',
  'alert.cleared': 'What an alert had found is over',
};

export const eventTypes = Object.entries(descriptions) as [EventType, string][];

/** The filters of a webhook in a few words. */
export function filterSummary({ events, qr_ids, tags }: Pick<Subscription, 'events' | 'qr_ids' | 'tags'>): string {
  const what = events.length === eventTypes.length ? 'All events' : events.join(', ');
  const codes = qr_ids === null ? '' : ` of ${qr_ids.length} ${qr_ids.length === 1 ? 'code' : 'codes'}`;
  return `${what}${codes}${tags === null ? '' : ` with ${tags.join(' or ')}`}`;
}
