import { useState } from 'preact/hooks';
import { urlOfLink } from '../../../../events/link.ts';
import { api } from '../api.ts';
import { plural, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Copy } from '../parts/copy.tsx';
import { Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { Allowed, may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { navigate, pageUrl } from '../router.ts';
import type { Domain } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { DomainSettings } from './domain-settings.tsx';
import { DomainStatus } from './domains.tsx';

const listPath = '/account/domains';

/** One domain: its proof, its settings, its end. */
export function DomainPage({ id }: { id: string }) {
  const path = `/domains/${id}`;
  const { data: domain, error, reload } = useResource<Domain>(path, { refreshIntervalMs: 5_000 });
  const [isRemoving, setIsRemoving] = useState(false);
  const { busy, run } = useAction();
  if (domain === undefined) return <Loading error={error} retry={reload} lines={5} />;
  const verify = () =>
    run(async () => {
      const { status, problems } = await api.post<Domain>(`${path}/verify`, {});
      await reload();
      toast(problems.length === 0 ? `${domain.name} is ${status}.` : 'The proof is not complete yet.');
    });
  const suggest = (primary: boolean) =>
    run(async () => {
      await api.patch(path, { primary });
      await reload();
      toast(primary ? 'Suggested for new codes.' : 'No longer suggested for new codes.');
    });
  return (
    <>
      <div class="row gap-m toolbar">
        <a class="back" href={pageUrl(listPath)}>
          <Icon name="back" />
          All domains
        </a>
        <DomainStatus status={domain.status} />
        <span class="spacer" />
        {domain.status === 'active' && may('domains.write') && (
          <button type="button" class="button" disabled={busy} onClick={() => suggest(!domain.primary)}>
            {domain.primary ? 'Do not suggest for new codes' : 'Suggest for new codes'}
          </button>
        )}
        <Allowed scope="domains.write">
          <button type="button" class="button danger" onClick={() => setIsRemoving(true)}>
            Remove
          </button>
        </Allowed>
      </div>
      <div class="stack">
        <section class="card stack" aria-labelledby="domain-name">
          <h2 id="domain-name" class="wrapped">
            {domain.name}
          </h2>
          <State domain={domain} />
          <Records domain={domain} />
          <div class="row gap-m">
            <Allowed scope="domains.write">
              <button type="button" class="button primary" disabled={busy} onClick={verify}>
                <Icon name="refresh" />
                {busy ? 'Checking…' : 'Check now'}
              </button>
            </Allowed>
            {domain.checked_at !== null && (
              <time class="hint" dateTime={domain.checked_at} title={time(domain.checked_at)}>
                last checked {relativeTime(domain.checked_at)}
              </time>
            )}
          </div>
        </section>
        <Allowed scope="domains.write">
          <DomainSettings domain={domain} onChange={reload} />
        </Allowed>
      </div>
      {isRemoving && <RemoveDialog domain={domain} onClose={() => setIsRemoving(false)} />}
    </>
  );
}

function State({ domain: { name, status, problems, codes } }: { domain: Domain }) {
  const link = urlOfLink(`${name}/`, bootstrap.short_base_url);
  return (
    <>
      {status === 'active' && (
        <p class="row nowrap verdict good">
          <Icon name="check" />
          <span>
            {plural(codes, 'code')} on it. <a href={link}>Open {name}</a> to see that it leads here.
          </span>
        </p>
      )}
      {status === 'failing' && (
        <p class="row nowrap verdict bad" role="alert">
          <Icon name="warning" />
          The proof is no longer complete. Short links still work, but another account that proves the domain gets it:
          repair the records below.
        </p>
      )}
      {status === 'pending' && (
        <p>
          Add these records where you manage the DNS of your domain. The service checks every ten minutes for three
          days; a new record can take an hour until it is found.
        </p>
      )}
      {problems.length > 0 && (
        <ul class="stack gap-m" aria-label="What is missing">
          {problems.map(({ check, expected, found }) => (
            <li key={check} class="wrapped">
              <strong>{found}</strong>
              <div class="hint">Expected: {expected}</div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const Records = ({ domain: { records } }: { domain: Domain }) => (
  <ul class="lines records" aria-label="DNS records">
    {records.map(({ type, name, value }) => (
      <li key={`${type} ${value}`} class="row nowrap start gap-m">
        <span class="badge">{type}</span>
        <dl class="stack gap-xs wrapped">
          <div>
            <dt class="hint">Name</dt>
            <dd>
              <code>{name}</code>
              <Copy text={name} label={`Copy the name of the ${type} record`} />
            </dd>
          </div>
          <div>
            <dt class="hint">Value</dt>
            <dd>
              <code>{value}</code>
              <Copy text={value} label={`Copy the value of the ${type} record`} />
            </dd>
          </div>
        </dl>
      </li>
    ))}
  </ul>
);

function RemoveDialog({ domain: { id, name, codes }, onClose }: { domain: Domain; onClose(): void }) {
  const remove = async () => {
    await api.delete(`/domains/${id}`);
    toast(`${name} removed.`);
    onClose();
    navigate(pageUrl(listPath));
  };
  return (
    <ConfirmDialog title={`Remove ${name}?`} label="Remove domain" isDangerous onConfirm={remove} onClose={onClose}>
      <p>
        {codes === 0 ? 'No code is' : `${plural(codes, 'code')} ${codes === 1 ? 'is' : 'are'}`} on it. Short links of
        the domain stop working at once, printed ones included. The codes stay, and work again if you add the domain and
        prove it again.
      </p>
    </ConfirmDialog>
  );
}
