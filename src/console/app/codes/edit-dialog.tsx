import { useState } from 'preact/hooks';
import { api, errorMessage } from '../api.ts';
import { plural } from '../format.ts';
import { ChangesList } from '../parts/changes-list.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt, errorOf, type FieldErrors } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Segments } from '../parts/segments.tsx';
import { TimeField } from '../parts/time-field.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { may } from '../permissions.tsx';
import { timeZoneText } from '../time-zones.ts';
import type { BulkUpdated, ListedQrCode } from '../types.ts';
import { accountTimeZone } from '../welcome.ts';
import { noTagChange, type TagChange, TagChanges } from './tag-changes.tsx';

/** As many as the service takes in one request. */
export const maxEdited = 1_000;

interface Fields {
  destination: string;
  find: string;
  replacement: string;
  /** ISO timestamps; empty for no change. */
  starts: string;
  expires: string;
  isUnscheduled: boolean;
  status: (typeof statusChanges)[number][0];
  tags: TagChange;
}

const statusChanges = [
  ['', 'As it is'],
  ['paused', 'Pause'],
  ['active', 'Resume'],
] as const;

const initial: Fields = {
  destination: '',
  find: '',
  replacement: '',
  starts: '',
  expires: '',
  isUnscheduled: false,
  status: '',
  tags: noTagChange,
};

interface Props {
  codes: ListedQrCode[];
  onChange(): Promise<void>;
  onClose(): void;
}

/** Changes several codes in the same way: fill in what changes, look at every change, confirm. */
export function EditDialog({ codes, onChange, onClose }: Props) {
  const [fields, setFields] = useState(initial);
  const [preview, setPreview] = useState<BulkUpdated>();
  const { busy, errors, run } = useAction(['set', 'replace', 'tags']);
  const send = (dry_run: boolean) =>
    api.post<BulkUpdated>('/qrcodes/bulk-update', {
      qr_ids: codes.map(({ id }) => id),
      ...changeOf(fields),
      dry_run,
    });
  const look = () => run(async () => setPreview(await send(true)));
  const store = () =>
    run(async () => {
      const { changed, undo } = await send(false);
      await onChange();
      toast(
        `${plural(changed, 'code')} changed.`,
        'done',
        undo === null || !may('account.write') ? undefined : () => undoAll(undo, onChange),
      );
      onClose();
    });
  if (preview === undefined)
    return (
      <Dialog title={`Edit ${plural(codes.length, 'code')}`} onClose={onClose}>
        <Form onSubmit={look}>
          <EditFields
            codes={codes}
            fields={fields}
            errors={errors}
            set={(change) => setFields({ ...fields, ...change })}
          />
          <DialogActions onCancel={onClose}>
            <button type="submit" class="button primary" disabled={busy || Object.keys(changeOf(fields)).length === 0}>
              Show what would change
            </button>
          </DialogActions>
        </Form>
      </Dialog>
    );
  const { changed, data, skipped } = preview;
  return (
    <Dialog title={changed === 0 ? 'Nothing would change' : `Change ${plural(changed, 'code')}?`} onClose={onClose}>
      <ChangesList codes={data} kept={skipped.map(({ qr_id, reason }) => ({ qr_id, reasons: [reason] }))} />
      <p class="hint">Printed codes follow at once.{may('account.write') && ' All of this can be undone together.'}</p>
      <div class="row actions">
        <button type="button" class="button" onClick={() => setPreview(undefined)}>
          Back
        </button>
        {changed > 0 && (
          <button type="button" class="button primary" disabled={busy} onClick={store}>
            {busy ? 'Changing…' : `Change ${plural(changed, 'code')}`}
          </button>
        )}
      </div>
    </Dialog>
  );
}

interface EditFieldsProps {
  codes: ListedQrCode[];
  fields: Fields;
  errors: FieldErrors;
  set(change: Partial<Fields>): void;
}

function EditFields({ codes, fields, errors, set }: EditFieldsProps) {
  const { destination, find, replacement, starts, expires, isUnscheduled, status, tags } = fields;
  const timeZone = accountTimeZone();
  return (
    <>
      <p class="hint">What you leave empty stays as it is. Nothing is changed yet.</p>
      <Field
        label="New destination of all codes"
        value={destination}
        onValue={(value) => set({ destination: value })}
        error={errorAt(errors, 'set.destination_url')}
        inputMode="url"
        isCode
      />
      <fieldset class="grid gap-m">
        <legend class="hidden">Find and replace</legend>
        <Field
          label="Find in destinations"
          value={find}
          onValue={(value) => set({ find: value })}
          error={errorOf(errors, 'replace') ?? errorAt(errors, 'replace.find')}
          placeholder="https://old.example/"
          isCode
        />
        <Field
          label="Replace with"
          value={replacement}
          onValue={(value) => set({ replacement: value })}
          error={errorAt(errors, 'replace.with')}
          placeholder="https://new.example/"
          isCode
        />
      </fieldset>
      {!isUnscheduled && (
        <fieldset class="grid gap-m">
          <legend class="hidden">Schedule</legend>
          <TimeField
            label="Starts"
            value={starts}
            onValue={(value) => set({ starts: value })}
            timeZone={timeZone}
            error={errorAt(errors, 'set.starts_at')}
          />
          <TimeField
            label="Ends"
            value={expires}
            onValue={(value) => set({ expires: value })}
            timeZone={timeZone}
            error={errorAt(errors, 'set.expires_at')}
          />
          <p class="hint">In the time zone of your account, {timeZoneText(timeZone)}.</p>
        </fieldset>
      )}
      <label class="row nowrap">
        <input
          type="checkbox"
          checked={isUnscheduled}
          onChange={(event) => set({ isUnscheduled: event.currentTarget.checked })}
        />
        Remove start and end
      </label>
      <div class="stack gap-xs field">
        <span class="label" aria-hidden="true">
          Status
        </span>
        <Segments
          label="Status of all codes"
          options={statusChanges}
          value={status}
          onValue={(next) => set({ status: next })}
        />
      </div>
      <TagChanges
        codes={codes}
        tags={tags}
        onTags={(next) => set({ tags: next })}
        error={errorAt(errors, 'tags.add') ?? errorOf(errors, 'tags')}
      />
    </>
  );
}

/** The filled fields as the service takes them. */
function changeOf({ destination, find, replacement, starts, expires, isUnscheduled, status, tags }: Fields): object {
  const set = {
    ...(destination.trim() === '' ? {} : { destination_url: destination.trim() }),
    ...(status === '' ? {} : { active: status === 'active' }),
    ...(isUnscheduled ? { starts_at: null, expires_at: null } : scheduleOf(starts, expires)),
  };
  return {
    ...(Object.keys(set).length === 0 ? {} : { set }),
    ...(find === '' ? {} : { replace: { find, with: replacement } }),
    ...(tags.add.length === 0 && tags.remove.length === 0 ? {} : { tags: filledOf(tags) }),
  };
}

/** Without a list that has no tags, which the service refuses. */
const filledOf = ({ add, remove }: TagChange) => ({
  ...(add.length === 0 ? {} : { add }),
  ...(remove.length === 0 ? {} : { remove }),
});

const scheduleOf = (starts: string, expires: string) => ({
  ...(starts === '' ? {} : { starts_at: starts }),
  ...(expires === '' ? {} : { expires_at: expires }),
});

async function undoAll(undo: object, onChange: () => Promise<void>): Promise<void> {
  try {
    await api.post('/account/revert', undo);
    await onChange();
    toast('Undone.');
  } catch (error) {
    toast(errorMessage(error), 'failed');
  }
}
