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

export const Failure = ({ error, retry }: { error: ApiError; retry?: (() => void) | undefined }) => (
  <div class="empty failure" role="alert">
    <Icon name="warning" />
    <h2>{error.status === 503 || error.status === 0 ? 'Not available right now' : 'That did not work'}</h2>
    <p>{error.message}</p>
    {retry !== undefined && (
      <button type="button" class="button" onClick={retry}>
        <Icon name="refresh" />
        Try again
      </button>
    )}
  </div>
);

const told = { active: 'Active', paused: 'Paused', draft: 'Draft' } as const;

export const StatusBadge = ({ status }: { status: keyof typeof told }) => (
  <span class={`badge ${status}`}>{told[status]}</span>
);
