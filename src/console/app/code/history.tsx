import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { ago, bare, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Pager } from '../parts/pager.tsx';
import { Failure, Skeleton } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { setQuery, usePlace } from '../router.ts';
import type { ApiKey, HistoryEntry, Page, QrCode } from '../types.ts';

/** Every change, from the log, and the way back to any destination that the code ever had. */
export function History({ code, onChange }: { code: QrCode; onChange(): Promise<void> }) {
  const { query } = usePlace();
  const page = query.get('page') ?? undefined;
  const history = useResource<Page<HistoryEntry>>(`/qrcodes/${code.id}/history`, {
    query: { page },
    since: code.updated_at,
  });
  const keys = useResource<{ data: ApiKey[] }>('/account/keys');
  const [target, setTarget] = useState<string>();
  if (history.data === undefined)
    return history.error === undefined ? (
      <Skeleton lines={5} />
    ) : (
      <Failure error={history.error} retry={history.reload} />
    );
  return (
    <section class="card" aria-label="History">
      <ol class="history">
        {history.data.data.map((entry) => {
          const led = destinationOf(entry);
          return (
            <li key={entry.id}>
              <div>
                <p>{told(entry)}</p>
                <p class="hint">
                  <time dateTime={entry.timestamp} title={time(entry.timestamp)}>
                    {ago(entry.timestamp)}
                  </time>{' '}
                  by {who(entry.key_id, keys.data?.data)}
                </p>
              </div>
              {led === code.destination_url ? (
                <span class="badge active">Leads there now</span>
              ) : (
                led !== undefined && (
                  <button type="button" class="button" onClick={() => setTarget(led)}>
                    <Icon name="history" />
                    Point back to this
                  </button>
                )
              )}
            </li>
          );
        })}
      </ol>
      <Pager what="history" pagination={history.data.pagination} onPage={(next) => setQuery({ page: String(next) })} />
      {target !== undefined && (
        <RollbackDialog code={code} target={target} onChange={onChange} onClose={() => setTarget(undefined)} />
      )}
    </section>
  );
}

interface RollbackProps {
  code: QrCode;
  target: string;
  onChange(): Promise<void>;
  onClose(): void;
}

function RollbackDialog({ code, target, onChange, onClose }: RollbackProps) {
  const { busy, run } = useAction();
  const rollBack = () =>
    run(async () => {
      await api.patch(`/qrcodes/${code.id}`, { destination_url: target });
      await onChange();
      toast('The next scan leads there.');
      onClose();
    });
  return (
    <Dialog title="Point back to this destination?" onClose={onClose}>
      <dl class="change">
        <dt>Now</dt>
        <dd>{code.destination_url}</dd>
        <dt>Then</dt>
        <dd>{target}</dd>
      </dl>
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button primary" disabled={busy} onClick={rollBack}>
          Point back
        </button>
      </div>
    </Dialog>
  );
}

/** The destination that the code had from this change on. */
function destinationOf({ event, to }: HistoryEntry): string | undefined {
  if (event === 'destination_changed') return String(to);
  if (event === 'code_created') return (to as { destination_url: string }).destination_url;
  return undefined;
}

function told({ event, from, to }: HistoryEntry) {
  switch (event) {
    case 'code_created':
      return (
        <>
          <strong>Created</strong>, leading to <span class="url">{bare((to as QrCode).destination_url)}</span>
        </>
      );
    case 'code_renamed':
      return (
        <>
          <strong>Renamed</strong> from “{String(from)}” to “{String(to)}”
        </>
      );
    case 'destination_changed':
      return (
        <>
          <strong>Destination changed</strong> from <span class="url">{bare(String(from))}</span> to{' '}
          <span class="url">{bare(String(to))}</span>
        </>
      );
    case 'code_paused':
      return <strong>Paused</strong>;
    case 'code_resumed':
      return <strong>Resumed</strong>;
    case 'code_published':
      return <strong>Published</strong>;
    default:
      return <strong>{event.replaceAll('_', ' ')}</strong>;
  }
}

function who(id: string, keys: ApiKey[] | undefined): string {
  if (id === 'operator') return 'the operator';
  const key = keys?.find((one) => one.id === id);
  if (key !== undefined) return `${key.name} (…${key.last4})`;
  return keys === undefined ? '…' : 'a key that was revoked since';
}
