import { useEffect, useId, useState } from 'preact/hooks';
import { ApiError, api } from '../api.ts';
import { number, plural, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Actor } from '../parts/actor.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { StatusBadge } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { Allowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { HistoryEntry, Page, PastQrCode, QrCode, Summary } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';
import { changeText } from './changes.tsx';
import { type Moment, momentsOf } from './moments.ts';
import { type Aspect, aspectsOf, differences } from './versions.ts';

/** As many changes as one read of the history returns. */
const maxChanges = 500;
const dragPauseMs = 150;

interface Props {
  code: QrCode;
  onChange(): Promise<void>;
}

/** A slider over the versions of a code: what it was, how it was scanned meanwhile, and a button to bring it back. */
export function TimeMachine({ code, onChange }: Props) {
  const history = useResource<Page<HistoryEntry>>(`/qrcodes/${code.id}/history`, {
    query: { limit: maxChanges },
    refreshKey: code.version,
  });
  const moments = momentsOf(history.data?.data ?? []);
  const [chosen, setChosen] = useState<number>();
  const newest = moments.length - 1;
  const index = Math.min(chosen ?? newest, newest);
  const moment = useSettled(moments[index], dragPauseMs);
  if (moments.length < 2 || moment === undefined) return null;
  const isPartial = (history.data?.pagination.total ?? 0) > maxChanges;
  return (
    <section class="card stack time-machine" aria-label="Time machine">
      <h2>Time machine</h2>
      <VersionSlider moments={moments} index={index} onIndex={setChosen} />
      {isPartial && <p class="hint">The newest {number(maxChanges)} changes. Older ones are in the list below.</p>}
      <Version
        code={code}
        moment={moments.find(({ version }) => version === moment.version) ?? moment}
        next={moments[moments.findIndex(({ version }) => version === moment.version) + 1]}
        onChange={onChange}
      />
    </section>
  );
}

/** The value after it has stayed the same for a while: a drag over 100 versions reads one of them. */
function useSettled<T extends { version: number } | undefined>(value: T, delayMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs);
    return () => clearTimeout(timer);
  }, [value?.version]);
  return settled ?? value;
}

interface SliderProps {
  moments: Moment[];
  index: number;
  onIndex(index: number): void;
}

function VersionSlider({ moments, index, onIndex }: SliderProps) {
  const id = useId();
  const moment = moments[index];
  const text = moment === undefined ? '' : `Version ${moment.version}, ${time(moment.timestamp)}`;
  return (
    <div class="version-slider">
      <label for={id}>{index === moments.length - 1 ? `${text} (now)` : text}</label>
      <div class="row nowrap">
        <button
          type="button"
          class="button"
          aria-label="Earlier version"
          disabled={index === 0}
          onClick={() => onIndex(index - 1)}
        >
          <Icon name="back" />
        </button>
        <input
          id={id}
          type="range"
          min={0}
          max={moments.length - 1}
          step={1}
          value={index}
          aria-valuetext={text}
          onInput={(event) => onIndex(Number(event.currentTarget.value))}
        />
        <button
          type="button"
          class="button"
          aria-label="Later version"
          disabled={index === moments.length - 1}
          onClick={() => onIndex(index + 1)}
        >
          <Icon name="next" />
        </button>
      </div>
    </div>
  );
}

interface VersionProps extends Props {
  moment: Moment;
  /** The moment that ended this version; undefined for the newest. */
  next: Moment | undefined;
}

function Version({ code, moment, next, onChange }: VersionProps) {
  const past = useResource<PastQrCode>(`/qrcodes/${code.id}`, { query: { as_of: moment.timestamp } });
  const [isRestoring, setRestoring] = useState(false);
  const then = past.data;
  if (then === undefined)
    return past.error === undefined ? null : <p class="row nowrap verdict bad">{past.error.message}</p>;
  const [aspects, current] = [then, code].map((state) => aspectsOf(state, accountTimeZone()));
  if (aspects === undefined || current === undefined) return null;
  const changed = differences(current, aspects);
  return (
    <div class="stack version" aria-busy={past.loading}>
      <div class="version-changes">
        {moment.changes.map((entry) => (
          <p key={entry.id}>{changeText(entry)}</p>
        ))}
        <p class="hint">
          {relativeTime(moment.timestamp)} by <Actor id={moment.key_id} name={moment.actor_name} />
        </p>
      </div>
      <Allowed scope="analytics.read">
        <ScansMeanwhile code={code} moment={moment} next={next} />
      </Allowed>
      <dl class="grid">
        <div>
          <dt>Status</dt>
          <dd>
            <StatusBadge status={then.status} />
          </dd>
        </div>
        {aspects.map(({ label, lines }) => (
          <div key={label} class={changed.has(label) ? 'differs' : undefined}>
            <dt>
              {label} {changed.has(label) && <span class="badge">Different now</span>}
            </dt>
            {lines.map((line, i) => (
              <dd key={i}>{line}</dd>
            ))}
          </div>
        ))}
      </dl>
      <div class="row actions">
        <Allowed scope="codes.write">
          <button type="button" class="button primary" disabled={changed.size === 0} onClick={() => setRestoring(true)}>
            <Icon name="history" />
            Restore version {moment.version}
          </button>
        </Allowed>
        {changed.size === 0 && (
          <span class="hint">{next === undefined ? 'This is the code as it is now.' : 'The same as now.'}</span>
        )}
      </div>
      {isRestoring && (
        <RestoreVersionDialog
          code={code}
          version={moment.version}
          then={aspects}
          now={current}
          onChange={onChange}
          onClose={() => setRestoring(false)}
        />
      )}
    </div>
  );
}

/** How often the code was scanned while it had this version. */
function ScansMeanwhile({ code, moment, next }: { code: QrCode; moment: Moment; next: Moment | undefined }) {
  const end = next === undefined ? undefined : new Date(Date.parse(next.timestamp) - 1).toISOString();
  const isInstant = end !== undefined && end < moment.timestamp;
  const scans = useResource<Summary>(isInstant ? undefined : `/qrcodes/${code.id}/analytics`, {
    query: { start_date: moment.timestamp, ...(end === undefined ? {} : { end_date: end }) },
    ...(next === undefined ? { refreshKey: code.total_scans } : {}),
  });
  const until = next === undefined ? 'since then' : `until it was changed on ${time(next.timestamp)}`;
  const { total_scans = 0, unique_visitors = 0 } = isInstant ? {} : (scans.data?.summary ?? {});
  return (
    <p aria-busy={scans.loading && !isInstant}>
      <strong class="figure">{scans.data === undefined && !isInstant ? '…' : number(total_scans)}</strong>{' '}
      {total_scans === 1 ? 'scan' : 'scans'} by {plural(unique_visitors, 'visitor')} {until}
    </p>
  );
}

interface RestoreProps {
  code: QrCode;
  version: number;
  then: Aspect[];
  now: Aspect[];
  onChange(): Promise<void>;
  onClose(): void;
}

function RestoreVersionDialog({ code, version, then, now, onChange, onClose }: RestoreProps) {
  const { busy, run } = useAction();
  // The version that the user has seen: the page reads the code again every few seconds.
  const [seen] = useState(code.version ?? 1);
  const [isStale, setStale] = useState(false);
  const changed = differences(now, then);
  const restore = () =>
    run(async () => {
      try {
        await api.post(`/qrcodes/${code.id}/restore`, { version }, { 'if-match': `"${seen}"` });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw error;
        setStale(true);
        await onChange();
        return;
      }
      await onChange();
      toast(`Version ${version} restored. It applies to the next scan.`);
      onClose();
    });
  if (isStale)
    return (
      <Dialog title="This code was changed meanwhile" onClose={onClose}>
        <p>
          Someone else, or another window, changed it after you opened this page. Nothing was restored. Look at the
          newest version first, then restore again if you still want to.
        </p>
        <div class="row actions">
          <button type="button" class="button primary" onClick={onClose}>
            Look again
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={`Restore version ${version}?`} onClose={onClose}>
      <dl class="stack gap-xs change">
        {then
          .filter(({ label }) => changed.has(label))
          .map(({ label, lines }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <del>{now.find((aspect) => aspect.label === label)?.lines.join(' · ')}</del>
              </dd>
              <dd>{lines.join(' · ')}</dd>
            </div>
          ))}
      </dl>
      <p class="hint">
        Applies immediately, also to printed codes.{' '}
        {code.active ? 'The code stays active.' : `The code stays ${code.status}.`} The change is added to the history,
        so it can be undone.
      </p>
      <DialogActions onCancel={onClose}>
        <button type="button" class="button primary" disabled={busy} onClick={restore}>
          Restore version {version}
        </button>
      </DialogActions>
    </Dialog>
  );
}
