import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api.ts';
import { Icon } from '../icons.tsx';

/** Grey bars where something will be. */
export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, i) => (
      <span key={i} />
    ))}
  </div>
);

/** Nothing is here yet, and what to do about it. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

/** What could not be read. What is only away is asked for again by itself (resource.ts); a button is for the hasty. */
export const Failure = ({ error, retry }: { error: ApiError; retry: () => void }) => (
  <div class={error.isPassing ? 'empty' : 'empty failure'} role={error.isPassing ? 'status' : 'alert'}>
    {!error.isPassing && <Icon name="warning" />}
    <h2>{error.isPassing ? 'One moment, please' : 'That did not work'}</h2>
    <p>
      {error.message}
      {error.isPassing && ' This page keeps trying.'}
    </p>
    <button type="button" class="button" onClick={retry}>
      <Icon name="refresh" />
      Try again now
    </button>
  </div>
);

const told = { active: 'Active', paused: 'Paused', draft: 'Draft' } as const;

export const StatusBadge = ({ status }: { status: keyof typeof told }) => (
  <span class={`badge ${status}`}>{told[status]}</span>
);
