import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { DestinationField, parseDestination, validateFields } from '../codes/destination-field.tsx';
import { plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Menu } from '../parts/menu.tsx';
import { NoteField } from '../parts/note-field.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { goTo, listUrl, pageUrl } from '../router.ts';
import type { QrCode } from '../types.ts';
import { DownloadDialog } from './download.tsx';
import { PasswordDialog } from './password-dialog.tsx';

interface Props {
  code: QrCode;
  onChange(): Promise<void>;
}

/** The action buttons of a code and their dialogs. */
export function CodeActions({ code, onChange }: Props) {
  const [open, setOpen] = useState<'edit' | 'download' | 'password' | 'delete'>();
  const { busy, run } = useAction();
  const close = () => setOpen(undefined);
  const setActive = async (active: boolean) => {
    await api.patch(`/qrcodes/${code.id}`, { active });
    await onChange();
  };
  const resume = async () => {
    await setActive(true);
    toast(code.status === 'draft' ? 'Code published.' : 'Code resumed.');
  };
  const pause = async () => {
    await setActive(false);
    // A printed code leads nowhere at once, so a click by mistake is undone in the message that reports it.
    toast('Code paused. Visitors see a notice instead of the destination.', 'done', () => run(resume));
  };
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen('edit')}>
        <Icon name="pencil" />
        Edit
      </button>
      <button type="button" class="button" disabled={busy} onClick={() => run(code.active ? pause : resume)}>
        <Icon name={code.active ? 'pause' : 'play'} />
        {{ active: 'Pause', paused: 'Resume', draft: 'Publish' }[code.status]}
      </button>
      <button type="button" class="button primary" onClick={() => setOpen('download')}>
        <Icon name="download" />
        Download
      </button>
      <Menu label="More actions" buttonClass="button square" button={<Icon name="more" />}>
        <a class="button" href={pageUrl(`/codes/new?from=${code.id}`)}>
          <Icon name="copy" />
          Duplicate
        </a>
        <button type="button" class="button" onClick={() => setOpen('password')}>
          <Icon name="lock" />
          Password
        </button>
        <hr />
        <button type="button" class="button danger" onClick={() => setOpen('delete')}>
          <Icon name="trash" />
          Delete
        </button>
      </Menu>
      {open === 'edit' && <EditDialog code={code} onChange={onChange} onClose={close} />}
      {open === 'download' && <DownloadDialog code={code} onClose={close} />}
      {open === 'password' && <PasswordDialog code={code} onChange={onChange} onClose={close} />}
      {open === 'delete' && <DeleteDialog code={code} onClose={close} />}
    </>
  );
}

function EditDialog({ code, onChange, onClose }: Props & { onClose(): void }) {
  const [name, setName] = useState(code.name);
  const [destination, setDestination] = useState(code.destination_url);
  const [note, setNote] = useState(code.note ?? '');
  const { busy, errors, setErrors, recheck, run } = useAction(['name', 'destination_url', 'note']);
  const save = () =>
    run(async () => {
      const destination_url = parseDestination(destination).url;
      // An unchanged destination is not validated: it may predate a rule that it violates.
      const hasNewDestination = destination_url !== code.destination_url;
      const { name: nameError, destination_url: destinationError } = validateFields(name, destination);
      const invalid = {
        ...(nameError === undefined ? {} : { name: nameError }),
        ...(destinationError === undefined || !hasNewDestination ? {} : { destination_url: destinationError }),
      };
      setErrors(invalid);
      if (Object.keys(invalid).length > 0) return;
      await api.patch(`/qrcodes/${code.id}`, {
        name,
        ...(hasNewDestination ? { destination_url } : {}),
        ...(note === (code.note ?? '') ? {} : { note }),
      });
      await onChange();
      toast(hasNewDestination ? 'Saved. New scans go to the new destination.' : 'Changes saved.');
      onClose();
    });
  return (
    <Dialog title="Edit code" onClose={onClose}>
      <Form onSubmit={save}>
        <Field
          label="Name"
          value={name}
          onValue={(value) => {
            setName(value);
            recheck('name', validateFields(value, destination)['name']);
          }}
          error={errors['name']}
        />
        <DestinationField
          value={destination}
          onValue={(value) => {
            setDestination(value);
            recheck('destination_url', validateFields(name, value)['destination_url']);
          }}
          error={errors['destination_url']}
          hint="Applies immediately, also to printed codes. Previous destinations stay in the history."
        />
        <NoteField value={note} onValue={setNote} error={errors['note']} />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            Save
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

const confirmation = 'delete';

function DeleteDialog({ code, onClose }: { code: QrCode; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const { busy, run } = useAction();
  const remove = () =>
    run(async () => {
      await api.delete(`/qrcodes/${code.id}`);
      toast(`${code.name} deleted.`);
      goTo(listUrl());
    });
  return (
    <Dialog title={`Delete ${code.name}?`} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (typed.trim().toLowerCase() === confirmation) remove();
        }}
      >
        <p>
          The short link stops working immediately and permanently, also on printed codes. Its analytics (
          {plural(code.total_scans, 'scan')}) are no longer available. To stop it temporarily, pause it instead.
        </p>
        <Field label={`Type “${confirmation}” to confirm`} value={typed} onValue={setTyped} isCode />
        <DialogActions onCancel={onClose}>
          <button
            type="submit"
            class="button danger solid"
            disabled={busy || typed.trim().toLowerCase() !== confirmation}
          >
            Delete code
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
