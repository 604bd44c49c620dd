import { useId, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { number, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { TimeField } from '../parts/time-field.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { timeZoneText } from '../time-zones.ts';
import type { NewReplay, Page, Replay, Subscription } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';

const statusLabels = { running: 'Running', done: 'Done', canceled: 'Canceled', stopped: 'Stopped' } as const;
const statusClasses = { running: 'pending', done: 'delivered', canceled: 'paused', stopped: 'failed' } as const;
const choices = [
  ['missing', 'Missing'],
  ['failed', 'Failed'],
  ['all', 'All'],
] as const;
const hints = {
  missing: 'Events for which no delivery was made: from before the webhook existed, or while it was off.',
  failed: 'Events whose delivery failed in the last 30 days.',
  all: 'Every event, also those that your server already has.',
} as const;

/** The last replays of a webhook, with progress, and the button that starts one. */
export function Replays({ webhook }: { webhook: Pick<Subscription, 'id' | 'active'> }) {
  const path = `/webhooks/${webhook.id}`;
  const [isStarting, setIsStarting] = useState(false);
  const { data, reload } = useResource<Page<Replay>>(`${path}/replays`, {
    query: { limit: 5 },
    refreshIntervalMs: 2_000,
  });
  const replays = data?.data ?? [];
  const isRunning = replays.some(({ status }) => status === 'running');
  return (
    <section aria-label="Replays">
      <div class="row gap-m toolbar">
        <h2>Replays</h2>
        <span class="spacer" />
        <button
          type="button"
          class="button"
          disabled={!webhook.active || isRunning}
          onClick={() => setIsStarting(true)}
        >
          <Icon name="refresh" />
          Replay events
        </button>
      </div>
      {replays.length === 0 ? (
        <p class="hint">Send events of the past again, or for the first time. New events still go first.</p>
      ) : (
        <ul class="card lines">
          {replays.map((replay) => (
            <ReplayItem key={replay.id} path={path} replay={replay} onChange={reload} />
          ))}
        </ul>
      )}
      {isStarting && <StartDialog path={path} onChange={reload} onClose={() => setIsStarting(false)} />}
    </section>
  );
}

interface ItemProps {
  path: string;
  replay: Replay;
  onChange(): Promise<void>;
}

function ReplayItem({ path, replay, onChange }: ItemProps) {
  const { id, status, only, from, to, total, sent, failed } = replay;
  const { busy, run } = useAction();
  const cancel = () =>
    run(async () => {
      await api.delete(`${path}/replays/${id}`);
      await onChange();
      toast('Replay canceled.');
    });
  return (
    <li class="row between gap-l">
      <div class="stack gap-xs replay">
        <div>
          <span class={`badge ${statusClasses[status]}`}>{statusLabels[status]}</span> {only} events, {time(from)} to{' '}
          {time(to)}
        </div>
        {status === 'running' && total !== null && total > 0 && (
          <progress aria-label="Progress of the replay" max={total} value={sent} />
        )}
        <div class="hint">
          {total === null ? 'Counting the events' : `${number(sent)} of ${number(total)} sent`}
          {failed > 0 && `, ${number(failed)} failed at first`}
        </div>
      </div>
      {status === 'running' && (
        <button type="button" class="button" disabled={busy} onClick={cancel}>
          Cancel replay
        </button>
      )}
    </li>
  );
}

interface DialogProps {
  path: string;
  onChange(): Promise<void>;
  onClose(): void;
}

const dayMs = 24 * 60 * 60 * 1000;

function StartDialog({ path, onChange, onClose }: DialogProps) {
  const [from, setFrom] = useState(() => new Date(Date.now() - dayMs).toISOString());
  const [to, setTo] = useState('');
  const [only, setOnly] = useState<NewReplay['only']>('missing');
  const { busy, errors, run } = useAction(['from', 'to']);
  const timeZone = accountTimeZone();
  const hintId = useId();
  const start = () =>
    run(async () => {
      const { total } = await api.post<Replay>(`${path}/replay`, { from, only, ...(to === '' ? {} : { to }) });
      await onChange();
      toast(total === null ? 'Replay started.' : `Replay of ${number(total)} events started.`);
      onClose();
    });
  return (
    <Dialog title="Replay events" onClose={onClose}>
      <Form onSubmit={start}>
        <TimeField label="From" value={from} onValue={setFrom} timeZone={timeZone} error={errorAt(errors, 'from')} />
        <TimeField label="To" value={to} onValue={setTo} timeZone={timeZone} error={errorAt(errors, 'to')} />
        <p class="hint">Without an end: up to now. In the time zone of your account, {timeZoneText(timeZone)}.</p>
        <Segments
          label="Events to replay"
          options={choices}
          value={only}
          onValue={(choice) => setOnly(choice as NewReplay['only'])}
        />
        <p class="hint" id={hintId}>
          {hints[only]}
        </p>
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || from === ''}>
            Start replay
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
