import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { completed } from '../codes/destination.ts';
import { DestinationField, faultsOf } from '../codes/destination-field.tsx';
import { plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { navigate, pageUrl } from '../router.ts';
import type { QrCode } from '../types.ts';
import { DownloadDialog } from './download.tsx';

interface Props {
  code: QrCode;
  onChange(): Promise<void>;
}

/** Everything that can be done with a code. */
export function CodeActions({ code, onChange }: Props) {
  const [open, setOpen] = useState<'edit' | 'download' | 'delete'>();
  const { busy, run } = useAction();
  const close = () => setOpen(undefined);
  const toggle = () =>
    run(async () => {
      await api.patch(`/qrcodes/${code.id}`, { active: !code.active });
      await onChange();
      const done = {
        active: 'Paused. Who scans now is told so.',
        paused: 'The code leads on again.',
        draft: 'Published.',
      };
      toast(done[code.status]);
    });
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen('edit')}>
        <Icon name="pencil" />
        Edit
      </button>
      <button type="button" class="button" disabled={busy} onClick={toggle}>
        <Icon name={code.active ? 'pause' : 'play'} />
        {{ active: 'Pause', paused: 'Resume', draft: 'Publish' }[code.status]}
      </button>
      <button type="button" class="button danger" onClick={() => setOpen('delete')}>
        <Icon name="trash" />
        Delete
      </button>
      <button type="button" class="button primary" onClick={() => setOpen('download')}>
        <Icon name="download" />
        Download
      </button>
      {open === 'edit' && <EditDialog code={code} onChange={onChange} onClose={close} />}
      {open === 'download' && <DownloadDialog code={code} onClose={close} />}
      {open === 'delete' && <DeleteDialog code={code} onClose={close} />}
    </>
  );
}

function EditDialog({ code, onChange, onClose }: Props & { onClose(): void }) {
  const [name, setName] = useState(code.name);
  const [destination, setDestination] = useState(code.destination_url);
  const { busy, faults, setFaults, run } = useAction(['name', 'destination_url']);
  const save = () =>
    run(async () => {
      const destination_url = completed(destination);
      // One that is kept is not checked: it may be from before a rule that it breaks.
      const isMoved = destination_url !== code.destination_url;
      const { name: wrongName, destination_url: wrongDestination } = faultsOf(name, destination);
      const found = {
        ...(wrongName === undefined ? {} : { name: wrongName }),
        ...(wrongDestination === undefined || !isMoved ? {} : { destination_url: wrongDestination }),
      };
      setFaults(found);
      if (Object.keys(found).length > 0) return;
      await api.patch(`/qrcodes/${code.id}`, { name, ...(isMoved ? { destination_url } : {}) });
      await onChange();
      toast(isMoved ? 'Saved. The next scan leads there.' : 'Saved.');
      onClose();
    });
  return (
    <Dialog title="Edit code" onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <Field label="Name" value={name} onValue={setName} fault={faults['name']} />
        <DestinationField
          value={destination}
          onValue={setDestination}
          fault={faults['destination_url']}
          hint="Printed codes follow at once. The one before stays in the history."
        />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const word = 'delete';

function DeleteDialog({ code, onClose }: { code: QrCode; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const { busy, run } = useAction();
  const remove = () =>
    run(async () => {
      await api.delete(`/qrcodes/${code.id}`);
      toast(`${code.name} is deleted.`);
      navigate(pageUrl('/'));
    });
  return (
    <Dialog title={`Delete ${code.name}?`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim().toLowerCase() === word) remove();
        }}
      >
        <p>
          The short link stops working at once and for good, also on everything printed. Its{' '}
          {plural(code.total_scans, 'scan')} can no longer be looked at. To stop it for a while, pause it instead.
        </p>
        <Field label={`Type “${word}” to confirm`} value={typed} onValue={setTyped} isCode />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button danger solid" disabled={busy || typed.trim().toLowerCase() !== word}>
            Delete for good
          </button>
        </div>
      </form>
    </Dialog>
  );
}
