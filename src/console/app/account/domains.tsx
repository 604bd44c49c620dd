import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { useAction } from '../parts/use-action.ts';
import { Allowed } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { currentMode, navigate, pageUrl } from '../router.ts';
import type { Domain } from '../types.ts';

const statusLabels = { pending: 'Waiting for proof', active: 'Active', failing: 'Failing' } as const;
const statusClasses = { pending: 'draft', active: 'active', failing: 'failed' } as const;

export const DomainStatus = ({ status }: Pick<Domain, 'status'>) => (
  <span class={`badge ${statusClasses[status]}`}>{statusLabels[status]}</span>
);

/** The custom domains of the account. */
export function Domains() {
  const isLive = currentMode() === 'live';
  const { data, error, reload } = useResource<{ data: Domain[] }>(isLive ? '/domains' : undefined, {
    refreshIntervalMs: 10_000,
  });
  const [isAdding, setIsAdding] = useState(false);
  if (!isLive)
    return (
      <Empty title="Domains belong to live mode">
        <p>Switch to live mode to add a domain. Test codes can use it through the API.</p>
      </Empty>
    );
  if (data === undefined) return <Loading error={error} retry={reload} />;
  const addButton = (
    <Allowed scope="domains.write">
      <button type="button" class="button primary" onClick={() => setIsAdding(true)}>
        <Icon name="plus" />
        Add domain
      </button>
    </Allowed>
  );
  return (
    <section aria-label="Domains">
      {data.data.length === 0 ? (
        <Empty title="Your own domain on your codes">
          <p>
            With a domain such as go.example.com, people see your name before they scan, and a printed code stays yours
            whatever service it leads through.
          </p>
          {addButton}
        </Empty>
      ) : (
        <>
          <div class="row gap-m toolbar">
            <p class="hint">Short links on these domains lead to your codes only.</p>
            <span class="spacer" />
            {addButton}
          </div>
          <ul class="card lines">
            {data.data.map((domain) => (
              <li key={domain.id} class="row between gap-l">
                <div class="wrapped">
                  <a href={pageUrl(`/account/domains/${domain.id}`)}>{domain.name}</a>
                  <div class="hint">
                    {plural(domain.codes, 'code')}
                    {domain.primary && ' · suggested for new codes'}
                  </div>
                </div>
                <DomainStatus status={domain.status} />
              </li>
            ))}
          </ul>
        </>
      )}
      {isAdding && <AddDialog onClose={() => setIsAdding(false)} />}
    </section>
  );
}

function AddDialog({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const { busy, errors, run } = useAction(['name']);
  const add = () =>
    run(async () => {
      const { id } = await api.post<Domain>('/domains', { name: name.trim() });
      navigate(pageUrl(`/account/domains/${id}`));
    });
  return (
    <Dialog title="Add domain" onClose={onClose}>
      <Form onSubmit={add}>
        <Field
          label="Domain"
          value={name}
          onValue={setName}
          error={errors['name']?.replace(/^name /, 'The domain ')}
          placeholder="go.example.com"
          inputMode="url"
          isCode
          maxLength={255}
          hint="Choose a subdomain that nothing else uses, not the one of your website."
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || name.trim() === ''}>
            Add domain
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
