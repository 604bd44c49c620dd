import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api.ts';
import { Icon } from '../icons.tsx';

/** A placeholder while data is loading. */
export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div class="stack gap-m skeleton" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, i) => (
      <span key={i} />
    ))}
  </div>
);

/** An empty state, with what the user can do next. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="stack gap-m empty">
    <h2>{title}</h2>
    {children}
  </div>
);

/** A failed read. `useResource` retries transient errors by itself; the button retries at once. */
export const Failure = ({ error, retry }: { error: ApiError; retry: () => void }) => (
  <div class={`stack gap-m empty ${error.isTransient ? '' : 'failure'}`} role={error.isTransient ? 'status' : 'alert'}>
    {!error.isTransient && <Icon name="warning" />}
    <h2>{error.isTransient ? 'Temporarily unavailable' : 'Something went wrong'}</h2>
    <p>
      {error.message}
      {error.isTransient && ' Retrying automatically.'}
    </p>
    <button type="button" class="button" onClick={retry}>
      <Icon name="refresh" />
      Try again
    </button>
  </div>
);

interface LoadingProps {
  error: ApiError | undefined;
  retry: () => void;
  lines?: number;
}

/** What is shown until there is data: a placeholder, or why it could not be loaded. */
export const Loading = ({ error, retry, lines = 3 }: LoadingProps) =>
  error === undefined ? <Skeleton lines={lines} /> : <Failure error={error} retry={retry} />;

const statusLabels = { active: 'Active', paused: 'Paused', draft: 'Draft' } as const;

export const StatusBadge = ({ status }: { status: keyof typeof statusLabels }) => (
  <span class={`badge ${status}`}>{statusLabels[status]}</span>
);
