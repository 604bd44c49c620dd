import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { plural, time } from '../format.ts';
import { ChangesList } from '../parts/changes-list.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { TimeField } from '../parts/time-field.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { timeZoneText } from '../time-zones.ts';
import type { Reverted } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';

const hourMs = 3_600_000;
const periods: [name: string, hours: number][] = [
  ['Last hour', 1],
  ['Last 24 hours', 24],
  ['Last 7 days', 7 * 24],
];

const hoursAgo = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString();

interface Period {
  from: string;
  /** Empty for now. */
  to: string;
}

interface Props {
  /** A key or a member. */
  actor: { id: string; name: string };
  isPerson: boolean;
  /** What the user should do first, if the actor can still change codes. */
  advice?: string | undefined;
  onClose(): void;
}

/** Undoes what a key or a person did: choose a period, look at what would change, confirm. */
export function UndoDialog({ actor, isPerson, advice, onClose }: Props) {
  const [period, setPeriod] = useState<Period>({ from: hoursAgo(1), to: '' });
  const [preview, setPreview] = useState<{ period: Period; result: Reverted }>();
  const { busy, errors, run } = useAction(['from', 'to']);
  const revert = ({ from, to }: Period, dry_run: boolean) =>
    api.post<Reverted>('/account/revert', { actor: actor.id, from, ...(to === '' ? {} : { to }), dry_run });
  const look = () =>
    run(async () => {
      // Without an end, what the actor does until the user confirms would not be in the preview.
      const shown = { ...period, to: period.to === '' ? new Date().toISOString() : period.to };
      setPreview({ period: shown, result: await revert(shown, true) });
    });
  const undo = (shown: Period) =>
    run(async () => {
      const { changes } = await revert(shown, false);
      toast(`Undone: ${plural(changes.length, 'change')}.`);
      onClose();
    });
  if (preview !== undefined)
    return (
      <Preview
        name={actor.name}
        isPerson={isPerson}
        result={preview.result}
        period={preview.period}
        busy={busy}
        onBack={() => setPreview(undefined)}
        onConfirm={() => undo(preview.period)}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={`Undo what ${actor.name} did`} onClose={onClose}>
      <Form onSubmit={look}>
        <p>
          Sets codes back to what they were before {isPerson ? actor.name : 'this key'} changed them. {advice}
        </p>
        <fieldset class="row">
          <legend class="hidden">Period</legend>
          {periods.map(([name, hours]) => (
            <button
              key={name}
              type="button"
              class="button small"
              onClick={() => setPeriod({ from: hoursAgo(hours), to: '' })}
            >
              {name}
            </button>
          ))}
        </fieldset>
        <div class="grid gap-m">
          <TimeField
            label="From"
            value={period.from}
            onValue={(from) => setPeriod({ ...period, from })}
            timeZone={accountTimeZone()}
            error={errors['from']}
          />
          <TimeField
            label="To (empty for now)"
            value={period.to}
            onValue={(to) => setPeriod({ ...period, to })}
            timeZone={accountTimeZone()}
            error={errors['to']}
          />
        </div>
        <p class="hint">In the time zone of your account, {timeZoneText(accountTimeZone())}. Nothing is changed yet.</p>
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || period.from === ''}>
            {busy ? 'Reading the log…' : 'Show what would change'}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

interface PreviewProps {
  name: string;
  isPerson: boolean;
  result: Reverted;
  period: Period;
  busy: boolean;
  onBack(): void;
  onConfirm(): void;
  onClose(): void;
}

function Preview({ name, isPerson, result, period, busy, onBack, onConfirm, onClose }: PreviewProps) {
  const { changes, skipped } = result;
  const codes = Map.groupBy(changes, ({ qr_id }) => qr_id);
  const kept = Map.groupBy(skipped, ({ qr_id }) => qr_id);
  return (
    <Dialog
      title={changes.length === 0 ? 'Nothing to undo' : `Undo ${plural(changes.length, 'change')}?`}
      onClose={onClose}
    >
      <p>
        By {name} from {time(period.from)} to {time(period.to)}:{' '}
        {codes.size === 0 ? 'no code would change.' : `${plural(codes.size, 'code')} would change.`}
      </p>
      <ChangesList
        codes={[...codes].map(([qr_id, ofCode]) => ({ qr_id, name: ofCode[0]?.name ?? qr_id, changes: ofCode }))}
        kept={[...kept].map(([qr_id, ofCode]) => ({ qr_id, reasons: ofCode.map(({ reason }) => reason) }))}
      />
      <p class="hint">
        Codes that {isPerson ? name : 'the key'} created are paused, not deleted. All of this is in the history of each
        code, and can be changed again.
      </p>
      <div class="row actions">
        <button type="button" class="button" onClick={onBack}>
          Back
        </button>
        {changes.length > 0 && (
          <button type="button" class="button primary" disabled={busy} onClick={onConfirm}>
            {busy ? 'Undoing…' : `Undo ${plural(changes.length, 'change')}`}
          </button>
        )}
      </div>
    </Dialog>
  );
}
