import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Actor } from '../parts/actor.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { longSizes, pageQueryOf } from '../parts/page-numbers.ts';
import { Paged } from '../parts/pager.tsx';
import { Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { useRoute } from '../router.ts';
import type { HistoryEntry, Page, QrCode } from '../types.ts';
import { changeText } from './changes.tsx';
import { TimeMachine } from './time-machine.tsx';

/** All changes of the code, with a button to restore a previous destination. */
export function History({ code, onChange }: { code: QrCode; onChange(): Promise<void> }) {
  const { query } = useRoute();
  const history = useResource<Page<HistoryEntry>>(`/qrcodes/${code.id}/history`, {
    query: pageQueryOf(query, longSizes),
    refreshKey: code.updated_at,
  });
  const [target, setTarget] = useState<string>();
  if (history.data === undefined) return <Loading error={history.error} retry={history.reload} lines={5} />;
  return (
    <>
      <TimeMachine code={code} onChange={onChange} />
      <section class="card" aria-label="History">
        <Paged what="changes" pagination={history.data.pagination} sizes={longSizes} loading={history.loading}>
          <ZoneNote />
          <ol class="history">
            {history.data.data.map((entry) => {
              const destination = destinationOf(entry);
              return (
                <li key={entry.id} class="row between">
                  <div>
                    <p>{changeText(entry)}</p>
                    <p class="hint">
                      <time dateTime={entry.timestamp} title={time(entry.timestamp)}>
                        {relativeTime(entry.timestamp)}
                      </time>{' '}
                      by <Actor id={entry.actor} name={entry.actor_name} />
                    </p>
                  </div>
                  {destination === code.destination_url ? (
                    <span class="badge active">Current destination</span>
                  ) : (
                    destination !== undefined &&
                    may('codes.write') && (
                      <button type="button" class="button" onClick={() => setTarget(destination)}>
                        <Icon name="history" />
                        Restore
                      </button>
                    )
                  )}
                </li>
              );
            })}
          </ol>
        </Paged>
        {target !== undefined && (
          <RestoreDialog code={code} target={target} onChange={onChange} onClose={() => setTarget(undefined)} />
        )}
      </section>
    </>
  );
}

interface RestoreProps {
  code: QrCode;
  target: string;
  onChange(): Promise<void>;
  onClose(): void;
}

function RestoreDialog({ code, target, onChange, onClose }: RestoreProps) {
  const restore = async () => {
    await api.patch(`/qrcodes/${code.id}`, { destination_url: target });
    await onChange();
    toast('Destination restored.');
    onClose();
  };
  return (
    <ConfirmDialog title="Restore this destination?" label="Restore destination" onConfirm={restore} onClose={onClose}>
      <dl class="stack gap-xs change">
        <dt>Current destination</dt>
        <dd>{code.destination_url}</dd>
        <dt>New destination</dt>
        <dd>{target}</dd>
      </dl>
    </ConfirmDialog>
  );
}

/** The destination that this change set. */
function destinationOf({ event, to }: HistoryEntry): string | undefined {
  if (event === 'destination_changed') return String(to);
  if (event === 'code_created') return (to as { destination_url: string }).destination_url;
  return undefined;
}
