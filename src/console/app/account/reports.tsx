import { useState } from 'preact/hooks';
import { pdfLanguages } from '../../../../events/languages.ts';
import { api, apiUrl } from '../api.ts';
import { date, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { Report } from '../types.ts';
import { chosenText } from './chosen-codes.tsx';
import { MailProblems } from './mail-problems.tsx';
import { ReportDialog } from './report-form.tsx';

type Opened = { kind: 'create' } | { kind: 'change' | 'remove'; report: Report };

/** Statistics that are mailed every week or month: set one up, look at it, change it, remove it. */
export function Reports() {
  const reports = useResource<{ data: Report[]; is_mailed: boolean }>('/reports');
  const [open, setOpen] = useState<Opened>();
  if (reports.data === undefined) return <Loading error={reports.error} retry={reports.reload} />;
  const { data, is_mailed } = reports.data;
  const close = () => setOpen(undefined);
  return (
    <section aria-label="Reports">
      <div class="row gap-m toolbar">
        <p class="hint">
          Statistics by e-mail, once for each week or month, with a link to unsubscribe.
          {!is_mailed && ' This service sends no mail: its operator has not set SMTP_URL.'}
        </p>
        <span class="spacer" />
        {may('codes.write') && (
          <button type="button" class="button primary" onClick={() => setOpen({ kind: 'create' })}>
            <Icon name="plus" />
            Create report
          </button>
        )}
      </div>
      {data.length === 0 ? (
        <Empty title="No reports yet" />
      ) : (
        <ul class="card lines">
          {data.map((report) => (
            <ReportItem key={report.id} report={report} onOpen={(kind) => setOpen({ kind, report })} />
          ))}
        </ul>
      )}
      {open?.kind === 'create' && <ReportDialog isMailed={is_mailed} onSaved={reports.reload} onClose={close} />}
      {open?.kind === 'change' && (
        <ReportDialog report={open.report} isMailed={is_mailed} onSaved={reports.reload} onClose={close} />
      )}
      {open?.kind === 'remove' && <RemoveDialog report={open.report} onDone={reports.reload} onClose={close} />}
    </section>
  );
}

/** Nothing for a report as CSV in a language that PDF files do not have. */
function previewOf({ name, every, timezone, language, qr_ids, tags }: Report): string | undefined {
  if (!pdfLanguages.includes(language)) return undefined;
  return apiUrl('/reports/preview.pdf', { name, every, timezone, language, qr_ids: qr_ids ?? [], tags: tags ?? [] });
}

function ReportItem({ report, onOpen }: { report: Report; onOpen(kind: 'change' | 'remove'): void }) {
  const { name, every, format, to, unsubscribed, is_mailed, next_at, last_at } = report;
  const preview = previewOf(report);
  const subscribed = to.filter((email) => !unsubscribed.includes(email));
  return (
    <li class="row between gap-l">
      <div class="wrapped">
        <strong dir="auto">{name}</strong> <span class="badge">{every === 'week' ? 'Weekly' : 'Monthly'}</span>{' '}
        <span class="badge">{format.toUpperCase()}</span>
        <p class="hint">
          {chosenText(report)}
          {last_at !== null && ` · last mailed ${date(last_at)}`}
        </p>
        <p class="hint">{recipientsText(subscribed, is_mailed, next_at)}</p>
        <MailProblems of={report} />
      </div>
      <span class="row actions">
        {may('analytics.read') && preview !== undefined && (
          <a class="button" href={preview} target="_blank" rel="noreferrer" aria-label={`Preview ${name}`}>
            Preview
          </a>
        )}
        {may('codes.write') && (
          <>
            <button type="button" class="button" aria-label={`Change ${name}`} onClick={() => onOpen('change')}>
              Change
            </button>
            <button type="button" class="button danger" aria-label={`Remove ${name}`} onClick={() => onOpen('remove')}>
              Remove
            </button>
          </>
        )}
      </span>
    </li>
  );
}

function recipientsText(to: string[], isMailed: boolean, nextAt: string | null): string {
  if (to.length === 0) return 'Mailed to no one: all have unsubscribed.';
  if (!isMailed) return `Would be mailed to ${to.join(', ')} once SMTP_URL is set.`;
  return `Mailed to ${to.join(', ')}${nextAt === null ? '' : `, next on ${time(nextAt)}`}`;
}

function RemoveDialog({ report, onDone, onClose }: { report: Report; onDone(): Promise<void>; onClose(): void }) {
  const remove = async () => {
    await api.delete(`/reports/${report.id}`);
    await onDone();
    toast(`${report.name} removed.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Remove ${report.name}?`}
      label="Remove report"
      isDangerous
      onConfirm={remove}
      onClose={onClose}
    >
      <p>It is mailed no more. Codes and their statistics stay.</p>
    </ConfirmDialog>
  );
}
