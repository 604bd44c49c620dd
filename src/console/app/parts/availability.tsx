import type { Availability } from '../types.ts';

const labels: Record<Exclude<Availability, 'live'>, string> = {
  scheduled: 'Scheduled',
  expired: 'Expired',
  limit_reached: 'Limit reached',
};

/** Why the code does not lead to its destinations now; nothing if it does. */
export const AvailabilityBadge = ({ availability }: { availability: Availability | undefined }) =>
  availability === undefined || availability === 'live' ? null : (
    <span class={`badge ${availability}`}>{labels[availability]}</span>
  );
