import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { pathOfLink } from '../bell.tsx';
import { plural, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { Allowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { Alert, Alerts as AlertList, RaisedAlerts } from '../types.ts';
import { AlertDialog } from './alert-form.tsx';
import { alertKindTexts } from './alert-kinds.ts';
import { chosenText } from './chosen-codes.tsx';
import { MailProblems } from './mail-problems.tsx';

const refreshIntervalMs = 30_000;

/** What is raised, and the alerts themselves: create, change, pause and delete them. */
export function Alerts() {
  const alerts = useResource<AlertList>('/alerts', { refreshIntervalMs });
  const raised = useResource<RaisedAlerts>('/alerts/raised', { query: { limit: 100 }, refreshIntervalMs });
  const [open, setOpen] = useState<{ action: 'create' } | { action: 'edit' | 'delete'; alert: Alert }>();
  const close = () => setOpen(undefined);
  const reload = async () => {
    await Promise.all([alerts.reload(), raised.reload()]);
  };
  if (alerts.data === undefined) return <Loading error={alerts.error} retry={alerts.reload} />;
  const { data, is_mailed } = alerts.data;
  return (
    <section aria-label="Alerts">
      <div class="row gap-m toolbar">
        <p class="hint">
          Alerts tell you when something needs attention: once, under the bell, in the event feed, by webhooks and by
          e-mail, and then not again until it is over.
          {!is_mailed && ' This service sends no mail: its operator has not set SMTP_URL.'}
        </p>
        <span class="spacer" />
        <Allowed scope="codes.write">
          <button type="button" class="button primary" onClick={() => setOpen({ action: 'create' })}>
            <Icon name="plus" />
            Create alert
          </button>
        </Allowed>
      </div>
      {raised.data !== undefined && raised.data.data.length > 0 && <RaisedList raised={raised.data} />}
      {data.length === 0 ? (
        <Empty title="No alerts yet" />
      ) : (
        <ul class="card lines" aria-label="Your alerts">
          {data.map((alert) => (
            <AlertItem
              key={alert.id}
              alert={alert}
              isMailed={is_mailed}
              onChanged={reload}
              onAction={(action) => setOpen({ action, alert })}
            />
          ))}
        </ul>
      )}
      {(open?.action === 'create' || open?.action === 'edit') && (
        <AlertDialog
          alert={open.action === 'edit' ? open.alert : undefined}
          isMailed={is_mailed}
          onSaved={reload}
          onClose={close}
        />
      )}
      {open?.action === 'delete' && <DeleteDialog alert={open.alert} onDone={reload} onClose={close} />}
    </section>
  );
}

const RaisedList = ({ raised: { data, total } }: { raised: RaisedAlerts }) => (
  <section class="card stack raised">
    <h2>Needs attention</h2>
    <ul class="stack gap-m">
      {data.map(({ alert_id, qr_id, domain_id, title, message, url, raised_at }) => (
        <li key={`${alert_id} ${qr_id ?? domain_id ?? title}`}>
          <a href={pathOfLink(url)}>{title}</a>{' '}
          <span class="hint" title={time(raised_at)}>
            {relativeTime(raised_at)}
          </span>
          <p class="wrapped">{message}</p>
        </li>
      ))}
    </ul>
    {total > data.length && <p class="hint">And {plural(total - data.length, 'more thing')}.</p>}
  </section>
);

const subjectOf = (alert: Alert) => {
  if (alert.kind === 'domain_failing') return 'all domains';
  return alert.kind === 'limit_near' ? `${chosenText(alert)}, at ${alert.percent}%` : chosenText(alert);
};

function recipientsText({ to, unsubscribed }: Alert, isMailed: boolean): string {
  const subscribed = to.filter((email) => !unsubscribed.includes(email)).join(', ');
  if (subscribed === '') return '';
  return isMailed ? ` · mailed to ${subscribed}` : ` · would be mailed to ${subscribed} once SMTP_URL is set`;
}

interface ItemProps {
  alert: Alert;
  isMailed: boolean;
  onChanged(): Promise<void>;
  onAction(action: 'edit' | 'delete'): void;
}

function AlertItem({ alert, isMailed, onChanged, onAction }: ItemProps) {
  const { busy, run } = useAction();
  const { id, name, kind, active, raised } = alert;
  const toggle = () =>
    run(async () => {
      await api.patch(`/alerts/${id}`, { active: !active });
      await onChanged();
    });
  return (
    <li class="row between gap-l">
      <div class="wrapped">
        <strong dir="auto">{name}</strong> {!active && <span class="badge paused">Paused</span>}{' '}
        {raised > 0 && <span class="badge failed">{raised} raised</span>}
        <p class="hint">
          {alertKindTexts[kind].label} · {subjectOf(alert)}
          {recipientsText(alert, isMailed)}
        </p>
        <MailProblems of={alert} />
      </div>
      <Allowed scope="codes.write">
        <span class="row actions">
          <button type="button" class="button" aria-label={`Edit ${name}`} onClick={() => onAction('edit')}>
            Edit
          </button>
          <button
            type="button"
            class="button"
            aria-label={`${active ? 'Pause' : 'Resume'} ${name}`}
            disabled={busy}
            onClick={toggle}
          >
            {active ? 'Pause' : 'Resume'}
          </button>
          <button type="button" class="button danger" aria-label={`Delete ${name}`} onClick={() => onAction('delete')}>
            Delete
          </button>
        </span>
      </Allowed>
    </li>
  );
}

function DeleteDialog({ alert, onDone, onClose }: { alert: Alert; onDone(): Promise<void>; onClose(): void }) {
  const remove = async () => {
    await api.delete(`/alerts/${alert.id}`);
    await onDone();
    toast(`${alert.name} deleted.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Delete ${alert.name}?`}
      label="Delete alert"
      isDangerous
      onConfirm={remove}
      onClose={onClose}
    >
      <p>It no longer tells you anything. Codes and their statistics stay.</p>
    </ConfirmDialog>
  );
}
