import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import type { OperatorHost } from '../types.ts';
import { type Listed, Pages, PastTime, Search, useListQuery } from './parts.tsx';

/** Hosts that no code may lead to. */
export function Hosts() {
  const { data, error, reload } = useResource<Listed<OperatorHost>>('/operator/hosts', { query: useListQuery() });
  const [open, setOpen] = useState<'add' | OperatorHost>();
  const close = () => setOpen(undefined);
  return (
    <section aria-label="Blocked hosts">
      <div class="row gap-m toolbar">
        <Search label="Search blocked hosts" placeholder="Host" />
        <button type="button" class="button primary" onClick={() => setOpen('add')}>
          <Icon name="plus" />
          Block a host
        </button>
      </div>
      {data === undefined ? (
        <Loading error={error} retry={reload} />
      ) : data.data.length === 0 ? (
        <Empty title="No host is blocked">
          <p>No code can lead to a blocked host or its subdomains, and links that lead there end.</p>
        </Empty>
      ) : (
        <ul class="card lines">
          {data.data.map((blocked) => (
            <li key={blocked.host} class="row between gap-l">
              <div class="wrapped">
                <strong>{blocked.host}</strong>
                <p class="hint">
                  blocked <PastTime at={blocked.blocked_at} />
                </p>
              </div>
              <button
                type="button"
                class="button"
                aria-label={`Unblock ${blocked.host}`}
                onClick={() => setOpen(blocked)}
              >
                Unblock
              </button>
            </li>
          ))}
        </ul>
      )}
      {data !== undefined && <Pages next={data.next} />}
      {open === 'add' && <BlockDialog reload={reload} onClose={close} />}
      {typeof open === 'object' && (
        <ConfirmDialog
          title={`Unblock ${open.host}?`}
          label="Unblock"
          onConfirm={async () => {
            await api.delete(`/operator/hosts/${encodeURIComponent(open.host)}`);
            await reload();
            toast(`${open.host} is no longer blocked.`);
            close();
          }}
          onClose={close}
        >
          <p>Links that lead there work again, unless they were taken down.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function BlockDialog({ reload, onClose }: { reload(): Promise<void>; onClose(): void }) {
  const [host, setHost] = useState('');
  const { busy, errors, run } = useAction(['host']);
  const add = () =>
    run(async () => {
      const blocked = await api.post<OperatorHost>('/operator/hosts', { host: host.trim() });
      await reload();
      toast(`${blocked.host} is blocked.`);
      onClose();
    });
  return (
    <Dialog title="Block a host" onClose={onClose}>
      <Form onSubmit={add}>
        <Field
          label="Host"
          value={host}
          onValue={setHost}
          error={errors['host']}
          placeholder="example.com"
          inputMode="url"
          isCode
          maxLength={300}
          hint="With its subdomains, for new and existing codes of all accounts."
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button danger solid" disabled={busy || host.trim() === ''}>
            Block host
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
