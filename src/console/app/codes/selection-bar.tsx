import { useRef, useState } from 'preact/hooks';
import { minBundleSizePx } from '../../../qr/print-sizes.ts';
import { api } from '../api.ts';
import { number, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { DownloadOptions } from '../parts/download-fields.tsx';
import { errorsOf, initialFields, queryOf } from '../parts/download-options.ts';
import { Field } from '../parts/field.tsx';
import { save } from '../parts/save.ts';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { Allowed } from '../permissions.tsx';
import type { ListedQrCode } from '../types.ts';
import { EditDialog, maxEdited } from './edit-dialog.tsx';
import { PrintDialog } from './print-dialog.tsx';
import { TagDialog } from './tag-dialog.tsx';
import type { Selection } from './use-selection.ts';

/** As many as the service takes in one request. */
const maxAtOnce = 100;

interface Result {
  changed: string[];
  failed: { id: string; message: string }[];
}

/** Sends the ids in as few requests as possible. */
async function sendInBatches(path: string, codes: ListedQrCode[], fields: object = {}): Promise<Result> {
  const result: Result = { changed: [], failed: [] };
  for (let i = 0; i < codes.length; i += maxAtOnce) {
    const ids = codes.slice(i, i + maxAtOnce).map(({ id }) => id);
    const { changed, failed } = await api.post<Result>(path, { ids, ...fields });
    result.changed.push(...changed);
    result.failed.push(...failed);
  }
  return result;
}

function report({ changed, failed }: Result, done: string, undo?: () => void): void {
  const [first] = failed;
  if (changed.length > 0) toast(`${plural(changed.length, 'code')} ${done}.`, 'done', undo);
  if (first !== undefined) toast(`${plural(failed.length, 'code')} could not be ${done}: ${first.message}`, 'failed');
}

interface ChangeProps {
  selection: Selection;
  onChange(): Promise<void>;
}

interface Props extends ChangeProps {
  /** Codes on all pages of the list. */
  total: number;
  selectAll(): Promise<void>;
}

/** What can be done with the selected codes. */
export function SelectionBar({ selection, total, selectAll, onChange }: Props) {
  const [open, setOpen] = useState<'edit' | 'tag' | 'download' | 'print' | 'delete'>();
  const { busy, run } = useAction();
  const count = useRef<HTMLElement>(null);
  const { codes } = selection;
  const active = codes.filter(({ status }) => status === 'active');
  const paused = codes.filter(({ status }) => status === 'paused');
  const setActive = (targets: ListedQrCode[], isActive: boolean): Promise<void> =>
    run(async () => {
      const result = await sendInBatches('/selection/change', targets, { active: isActive });
      const changed = targets.filter(({ id }) => result.changed.includes(id));
      selection.set(
        changed.map((code) => ({ ...code, status: isActive ? 'active' : 'paused' })),
        true,
      );
      await onChange();
      // As for one code: printed codes lead nowhere at once.
      if (isActive) report(result, 'resumed');
      else report(result, 'paused', () => setActive(changed, true));
    });
  const tag = async (change: { add: string[]; remove: string[] }) => {
    const result = await sendInBatches('/selection/tags', codes, change);
    await onChange();
    report(result, 'tagged');
    setOpen(undefined);
  };
  return (
    <section class="card row between selection" aria-label="Selected codes">
      <div class="row">
        <strong ref={count} role="status" tabIndex={-1}>
          {plural(codes.length, 'code')} selected
        </strong>
        {codes.length < Math.min(total, maxEdited) && (
          <button
            type="button"
            class="button small"
            disabled={busy}
            onClick={() => {
              // The button goes away with the last code.
              count.current?.focus();
              run(selectAll);
            }}
          >
            Select {total > maxEdited ? `the first ${number(maxEdited)}` : `all ${number(total)}`}
          </button>
        )}
      </div>
      <div class="row actions">
        <Allowed scope="codes.write">
          <button
            type="button"
            class="button"
            disabled={busy || active.length === 0}
            onClick={() => setActive(active, false)}
          >
            <Icon name="pause" />
            Pause{active.length > 0 && ` ${active.length}`}
          </button>
          <button
            type="button"
            class="button"
            disabled={busy || paused.length === 0}
            onClick={() => setActive(paused, true)}
          >
            <Icon name="play" />
            Resume{paused.length > 0 && ` ${paused.length}`}
          </button>
          <button
            type="button"
            class="button"
            disabled={codes.length > maxEdited}
            title={codes.length > maxEdited ? `Up to ${number(maxEdited)} codes can be edited together.` : undefined}
            onClick={() => setOpen('edit')}
          >
            <Icon name="pencil" />
            Edit
          </button>
          <button type="button" class="button" onClick={() => setOpen('tag')}>
            <Icon name="tag" />
            Tag
          </button>
        </Allowed>
        <button type="button" class="button" onClick={() => setOpen('download')}>
          <Icon name="download" />
          Download ZIP
        </button>
        <button type="button" class="button" onClick={() => setOpen('print')}>
          <Icon name="print" />
          Print
        </button>
        <Allowed scope="codes.write">
          <button type="button" class="button danger" onClick={() => setOpen('delete')}>
            <Icon name="trash" />
            Delete
          </button>
        </Allowed>
        <button type="button" class="button quiet" onClick={selection.clear}>
          Clear
        </button>
      </div>
      {open === 'edit' && <EditDialog codes={codes} onChange={onChange} onClose={() => setOpen(undefined)} />}
      {open === 'tag' && <TagDialog codes={codes} onSave={tag} onClose={() => setOpen(undefined)} />}
      {open === 'download' && <DownloadDialog codes={codes} onClose={() => setOpen(undefined)} />}
      {open === 'print' && <PrintDialog codes={codes} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <DeleteDialog selection={selection} onChange={onChange} onClose={() => setOpen(undefined)} />
      )}
    </section>
  );
}

function DownloadDialog({ codes, onClose }: { codes: ListedQrCode[]; onClose(): void }) {
  const [fields, setFields] = useState(initialFields);
  const { busy, run } = useAction();
  const errors = errorsOf(fields, minBundleSizePx);
  const isReady = Object.keys(errors).length === 0 && codes.length <= maxAtOnce;
  const download = () =>
    run(async () => {
      const ids = codes.map(({ id }) => id).join(',');
      save(
        await api.file('/selection/images', { ids, ...queryOf(fields) }),
        `qr-codes-${new Date().toISOString().slice(0, 10)}.zip`,
      );
      onClose();
    });
  return (
    <Dialog title={`Download ${plural(codes.length, 'code')}`} onClose={onClose}>
      <p>One ZIP file, with an image for each code, named after its short link.</p>
      <div class="stack">
        <DownloadOptions
          fields={fields}
          errors={errors}
          set={(change) => setFields((before) => ({ ...before, ...change }))}
        />
      </div>
      {codes.length > maxAtOnce && (
        <p class="row nowrap verdict bad">A ZIP file can have at most {maxAtOnce} codes. Select fewer.</p>
      )}
      <DialogActions onCancel={onClose}>
        <button type="button" class="button primary" disabled={busy || !isReady} onClick={download}>
          <Icon name="download" />
          {busy ? 'Preparing…' : 'Download ZIP'}
        </button>
      </DialogActions>
    </Dialog>
  );
}

const confirmation = 'delete';

function DeleteDialog({ selection, onChange, onClose }: ChangeProps & { onClose(): void }) {
  const [typed, setTyped] = useState('');
  const { busy, run } = useAction();
  const { codes } = selection;
  const scans = codes.reduce((sum, { total_scans }) => sum + total_scans, 0);
  const isConfirmed = typed.trim().toLowerCase() === confirmation;
  const remove = () =>
    run(async () => {
      const result = await sendInBatches('/selection/delete', codes);
      selection.set(
        codes.filter(({ id }) => result.changed.includes(id)),
        false,
      );
      await onChange();
      report(result, 'deleted');
      onClose();
    });
  return (
    <Dialog title={`Delete ${plural(codes.length, 'code')}?`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isConfirmed) remove();
        }}
      >
        <p>
          Their short links stop working immediately and permanently, also on printed codes. Their analytics (
          {plural(scans, 'scan')}) are no longer available. To stop them temporarily, pause them instead.
        </p>
        <ul class="names">
          {codes.slice(0, 5).map(({ id, name }) => (
            <li key={id} dir="auto">
              {name}
            </li>
          ))}
          {codes.length > 5 && <li>and {codes.length - 5} more</li>}
        </ul>
        <Field label={`Type “${confirmation}” to confirm`} value={typed} onValue={setTyped} isCode />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button danger solid" disabled={busy || !isConfirmed}>
            Delete {plural(codes.length, 'code')}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
