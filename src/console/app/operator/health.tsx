import { number, plural } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Loading } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { pageUrl } from '../router.ts';
import type { OperatorHealth } from '../types.ts';
import { PastTime } from './parts.tsx';

/** Older than this, a backup is worth a warning. */
const maxBackupAgeMs = 2 * 86_400_000;
/** With less of the disk left, redirects are about to fail. */
const minDiskShare = 0.1;

const size = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const bytes = (count: number) =>
  count >= 1e9
    ? `${size.format(count / 1e9)} GB`
    : count >= 1e6
      ? `${size.format(count / 1e6)} MB`
      : `${size.format(count / 1e3)} kB`;

/** How the service is. */
export function Health() {
  const { data, error, reload } = useResource<OperatorHealth>('/operator/health', { refreshIntervalMs: 5_000 });
  if (data === undefined) return <Loading error={error} retry={reload} lines={5} />;
  return (
    <div class="stack">
      <div class="grid columns-l plan">
        <Projections health={data} />
        <div class="stack">
          <section class="card stack">
            <h2>Backup and version</h2>
            <dl class="stack">
              <div>
                <dt>Last backup</dt>
                <dd>
                  <Backup backup={data.last_backup} />
                </dd>
              </div>
              <div>
                <dt>Version of this process</dt>
                <dd>{data.version}</dd>
              </div>
            </dl>
          </section>
          <Domains domains={data.domains} />
        </div>
      </div>
      <Instances instances={data.instances} version={data.version} />
    </div>
  );
}

const Projections = ({ health: { projections, position } }: { health: OperatorHealth }) => (
  <section class="card stack">
    <h2>Lag</h2>
    <p class="hint">How many entries of the log, {number(position)} in all, each part has yet to apply.</p>
    <ul class="lines records">
      {projections.map(({ projection, lag }) => (
        <li key={projection} class="row between">
          <span>{projection}</span>
          <span class={lag > 10_000 ? 'badge failed' : lag > 0 ? 'badge pending' : 'badge active'}>{number(lag)}</span>
        </li>
      ))}
    </ul>
  </section>
);

const Backup = ({ backup }: { backup: OperatorHealth['last_backup'] }) => (
  <>
    {backup === null ? (
      <span class="badge failed">None</span>
    ) : (
      <>
        <PastTime at={backup.finished_at} />, {plural(backup.rows, 'row')}{' '}
        {Date.now() - Date.parse(backup.finished_at) > maxBackupAgeMs && <span class="badge failed">Old</span>}
      </>
    )}
    <p class="hint">
      Of <code>./scanlog backup</code> only: copies that Postgres makes itself are not known here.
    </p>
  </>
);

const Domains = ({ domains }: { domains: OperatorHealth['domains'] }) => (
  <section class="card stack">
    <h2>Domains and certificates</h2>
    <p class="hint">
      {number(domains.active)} active, {number(domains.failing)} failing, {number(domains.pending)} waiting for proof.
      The proxy gets certificates for active and failing domains.
    </p>
    {domains.problems.length > 0 && (
      <ul class="lines records">
        {domains.problems.map(({ id, name, account, problems }) => (
          <li key={id} class="row between">
            <div class="wrapped">
              {name} · <a href={pageUrl(`/operator/accounts/${account.id}`)}>{account.name}</a>
              {problems.map((problem) => (
                <p key={problem} class="hint">
                  {problem}
                </p>
              ))}
            </div>
            <span class="badge failed">Failing</span>
          </li>
        ))}
      </ul>
    )}
  </section>
);

function Instances({ instances, version }: { instances: OperatorHealth['instances']; version: string }) {
  return (
    <section class="stack gap-m">
      <h2>Processes</h2>
      <Scroll label="Processes" isCard>
        <table>
          <thead>
            <tr>
              <th scope="col">Process</th>
              <th scope="col">Roles</th>
              <th scope="col">Version</th>
              <th scope="col">Started</th>
              <th scope="col">Spool</th>
              <th scope="col">Disk free</th>
              <th scope="col">Seen</th>
            </tr>
          </thead>
          <tbody>
            {instances.map((instance) => (
              <tr key={instance.id}>
                <td>
                  {instance.host} ({instance.pid})
                </td>
                <td>{instance.roles.join(', ')}</td>
                <td>
                  {instance.version} {instance.version !== version && <span class="badge pending">Other</span>}
                </td>
                <td>
                  <PastTime at={instance.started_at} />
                </td>
                <td>
                  {instance.spool === null
                    ? '–'
                    : instance.spool.bytes === 0
                      ? 'empty'
                      : `${bytes(instance.spool.bytes)}, ${size.format(instance.spool.seconds)} s`}
                </td>
                <td>
                  <Disk disk={instance.disk} />
                </td>
                <td>
                  <PastTime at={instance.seen_at} /> {instance.is_silent && <span class="badge failed">Silent</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="hint">
        A process reports itself every 10 seconds. One that was killed, or that cannot reach Postgres, is silent, and
        leaves the list after an hour.
      </p>
    </section>
  );
}

function Disk({ disk }: { disk: OperatorHealth['instances'][number]['disk'] }) {
  if (disk === null) return <>–</>;
  return (
    <>
      {bytes(disk.free)} of {bytes(disk.size)}{' '}
      {disk.free < disk.size * minDiskShare && <span class="badge failed">Low</span>}
    </>
  );
}
