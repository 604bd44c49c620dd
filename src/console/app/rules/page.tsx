import { useLayoutEffect, useState } from 'preact/hooks';
import { api } from '../api.ts';
import { DestinationField, validateFields } from '../codes/destination-field.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { errorOf } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { may } from '../permissions.tsx';
import { guardLeaving } from '../router.ts';
import type { QrCode } from '../types.ts';
import { accountTimeZone, bootstrap } from '../welcome.ts';
import { changesOf, formOf, type LeadsForm, type LeadsRequest, problemsWith } from './form.ts';
import { QueryFields } from './query-fields.tsx';
import { RuleList } from './rule-list.tsx';
import { ScheduleFields } from './schedule.tsx';
import { WhoGoesWhere } from './who-goes-where.tsx';

const fields: (keyof LeadsRequest)[] = [
  'destination_url',
  'rules',
  'starts_at',
  'expires_at',
  'max_scans',
  'fallback_url',
  'utm',
];

/** Where the code leads: destination, rules, schedule, limit and query string, saved by one request. */
export function LeadsPage({ code, onChange }: { code: QrCode; onChange(): Promise<void> }) {
  const { base, form, setForm, discard, isOutdated } = useForm(code);
  const { busy, errors, setErrors, run } = useAction(fields);
  const changes = changesOf(form, base);
  const hasChanges = Object.keys(changes).length > 0;
  const change = (changed: Partial<LeadsForm>) => setForm({ ...form, ...changed });
  const leaveDialog = useLeaveWarning(hasChanges);

  const save = () =>
    run(async () => {
      const { destination_url } = validateFields(code.name, form.destination);
      const invalid = {
        // An unchanged destination is not validated: it may predate a rule that it violates.
        ...(changes.destination_url === undefined || destination_url === undefined ? {} : { destination_url }),
        ...problemsWith(changes, [bootstrap.short_base_url, location.origin]),
      };
      setErrors(invalid);
      if (Object.keys(invalid).length > 0) {
        toast('Not saved: see the marked fields.', 'failed');
        return;
      }
      discard(await api.patch<QrCode>(`/qrcodes/${code.id}`, changes));
      await onChange();
      toast('Saved. It applies to the next scan.');
    });

  return (
    <div class="stack">
      <Form
        onSubmit={() => {
          if (hasChanges) save();
        }}
      >
        <fieldset class="stack" disabled={!may('codes.write')}>
          <section class="card stack" aria-label="Destination and rules">
            <DestinationField
              value={form.destination}
              onValue={(destination) => change({ destination })}
              error={errorOf(errors, 'destination_url')}
              hint="Where everyone goes, unless a rule says otherwise. Applies immediately, also to printed codes."
            />
            <h2>Rules</h2>
            <p class="hint">
              Lead some people elsewhere: by device, country, language or time. The first rule that fits decides.
            </p>
            <RuleList
              rules={form.rules}
              onRules={(rules) => change({ rules })}
              destination={form.destination}
              errors={errors}
            />
          </section>
          <ScheduleFields form={form} onForm={change} code={code} errors={errors} />
          <QueryFields form={form} onForm={change} code={code} errors={errors} />
        </fieldset>
        {hasChanges && (
          <div class="card row save-bar" role="status">
            <strong>Unsaved changes</strong>
            {isOutdated && <span class="bad">This code was changed elsewhere. Saving replaces that.</span>}
            <div class="row actions">
              <button type="button" class="button" disabled={busy} onClick={() => discard(code)}>
                Discard
              </button>
              <button type="submit" class="button primary" disabled={busy}>
                {busy ? 'Saving…' : 'Save'}
              </button>
            </div>
          </div>
        )}
      </Form>
      <WhoGoesWhere code={code} hasChanges={hasChanges} />
      {leaveDialog}
    </div>
  );
}

const noChange = (a: LeadsForm, b: LeadsForm) => Object.keys(changesOf(a, b)).length === 0;

/** The form, and the state of the code that its changes are compared with. Without changes it follows the code. */
function useForm(code: QrCode) {
  const [base, setBase] = useState(() => formOf(code, accountTimeZone()));
  const [form, setForm] = useState(base);
  const discard = (to: QrCode) => {
    const next = formOf(to, accountTimeZone());
    setBase(next);
    setForm(next);
  };
  const isOutdated = !noChange(formOf(code, accountTimeZone()), base);
  useLayoutEffect(() => {
    if (isOutdated && noChange(form, base)) discard(code);
  }, [code]);
  return { base, form, setForm, discard, isOutdated };
}

/** Asks before the browser, a link, a tab or Back leaves the changes; returns the dialog that asks, while it is open. */
function useLeaveWarning(hasChanges: boolean) {
  const [leave, setLeave] = useState<{ go(): void }>();
  useLayoutEffect(() => {
    if (!hasChanges) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    const endGuard = guardLeaving((go) => setLeave({ go }));
    return () => {
      endGuard();
      removeEventListener('beforeunload', warn);
    };
  }, [hasChanges]);
  if (leave === undefined) return null;
  const stay = () => setLeave(undefined);
  return (
    <Dialog title="Leave without saving?" onClose={stay}>
      <p>Your changes of where this code leads are not saved.</p>
      <div class="row actions">
        <button type="button" class="button" onClick={stay}>
          Stay here
        </button>
        <button type="button" class="button danger solid" onClick={leave.go}>
          Discard changes
        </button>
      </div>
    </Dialog>
  );
}
