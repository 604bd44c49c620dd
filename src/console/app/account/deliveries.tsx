import { api } from '../api.ts';
import { country, dueTime, number, plural, relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { pageQueryOf } from '../parts/page-numbers.ts';
import { Paged } from '../parts/pager.tsx';
import { Segments } from '../parts/segments.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, useRoute } from '../router.ts';
import type { AnyDelivery, Attempt, ContractScan, Page } from '../types.ts';

const statuses = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
] as const;
const sizes = [20, 50, 100] as const;
const statusLabels = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' } as const;

/** The delivery log of the webhook at `path` with all attempts, refreshed while it is open. */
export function Deliveries({ path }: { path: string }) {
  const { query } = useRoute();
  const status = query.get('status') ?? '';
  const { data, error, loading, reload } = useResource<Page<AnyDelivery>>(`${path}/deliveries`, {
    query: { status: status === '' ? undefined : status, ...pageQueryOf(query, sizes) },
    refreshIntervalMs: 3_000,
  });
  return (
    <section aria-label="Deliveries">
      <div class="row gap-m toolbar">
        <h2>Deliveries</h2>
        <span class="spacer" />
        <Segments
          label="Delivery status"
          options={statuses}
          value={status as (typeof statuses)[number][0]}
          onValue={(next) => setQuery({ status: next, page: undefined })}
        />
      </div>
      {data === undefined ? (
        <Loading error={error} retry={reload} />
      ) : data.pagination.total === 0 ? (
        <Empty title={status === '' ? 'No deliveries yet' : 'No matching deliveries'}>
          {status === '' && <p>The next event that this webhook gets is listed here.</p>}
        </Empty>
      ) : (
        <Paged what="deliveries" pagination={data.pagination} sizes={sizes} loading={loading}>
          <ul class="card lines deliveries">
            {data.data.map((delivery) => (
              <DeliveryItem key={delivery.id} path={path} delivery={delivery} onChange={reload} />
            ))}
          </ul>
        </Paged>
      )}
    </section>
  );
}

interface ItemProps {
  path: string;
  delivery: AnyDelivery;
  onChange(): Promise<void>;
}

function DeliveryItem({ path, delivery, onChange }: ItemProps) {
  const { id, status, body, attempts, error, next_attempt_at, created_at } = delivery;
  const { busy, run } = useAction();
  const resend = () =>
    run(async () => {
      await api.post(`${path}/deliveries/${id}/resend`);
      await onChange();
      toast('Resending the delivery.');
    });
  const last = attempts.at(-1);
  return (
    <li class="row nowrap gap-l start">
      <details>
        <summary class="row">
          <Icon name="next" />
          <span class={`badge ${status}`}>{statusLabels[status]}</span>
          <time dateTime={created_at} title={time(created_at)}>
            {relativeTime(created_at)}
          </time>
          {last !== undefined && <span class={last.error === null ? 'muted' : 'bad'}>{outcomeOf(last)}</span>}
          <span class="muted">{plural(attempts.length, 'attempt')}</span>
          {status === 'pending' && next_attempt_at !== null && attempts.length > 0 && (
            <span class="muted">next retry {dueTime(next_attempt_at)}</span>
          )}
        </summary>
        <p class="hint">
          <code>{id}</code> · <EventSummary body={body} />
        </p>
        {error !== null && <p class="error">{error}</p>}
        <h3>Payload</h3>
        <pre>{JSON.stringify(body, undefined, 2)}</pre>
        <h3>Attempts</h3>
        {attempts.length === 0 && <p class="hint">None yet.</p>}
        {attempts.map((attempt) => (
          <AttemptLine key={attempt.timestamp} attempt={attempt} at={attempt.timestamp} />
        ))}
      </details>
      <button type="button" class="button" disabled={busy} aria-label={`Resend ${id}`} onClick={resend}>
        <Icon name="send" />
        <span>Resend</span>
      </button>
    </li>
  );
}

/** The outcome of an attempt in a few words. */
const outcomeOf = ({ status_code }: Attempt) => (status_code === null ? 'No response' : `HTTP ${status_code}`);

/** Describes a scan by its code and location, and any other event by its type and code. */
function EventSummary({ body }: { body: AnyDelivery['body'] }) {
  const type = 'event' in body ? body.event : body.type;
  if (type !== 'scan.created') return <ChangeSummary type={type} data={body.data as { qr_id?: string }} />;
  const scan = body.data as ContractScan;
  return (
    <>
      scan of <a href={pageUrl(`/codes/${scan.qr_id}`)}>this code</a> from{' '}
      {[scan.city, country(scan.country)].filter((name) => name !== 'Unknown').join(', ') || 'an unknown location'}
    </>
  );
}

const ChangeSummary = ({ type, data: { qr_id } }: { type: string; data: { qr_id?: string } }) => (
  <>
    <code>{type}</code>
    {qr_id !== undefined && (
      <>
        {' '}
        of <a href={pageUrl(`/codes/${qr_id}`)}>this code</a>
      </>
    )}
  </>
);

/** One attempt: its outcome, its duration and the start of the response body. */
export function AttemptLine({ attempt, at }: { attempt: Attempt; at?: string }) {
  const { status_code, duration_ms, response, error } = attempt;
  return (
    <div class="row attempt">
      <span class={error === null ? 'good' : 'bad'}>
        <Icon name={error === null ? 'check' : 'warning'} />{' '}
        {status_code === null ? (error ?? 'No response') : `Your server responded with ${status_code}`}
      </span>
      <span class="muted">
        in {number(duration_ms)} ms{at === undefined ? '' : `, ${time(at)}`}
      </span>
      {response !== null && response !== '' && <pre>{response}</pre>}
    </div>
  );
}
