import type { Scan } from '../../events/scan.ts';
import { type ScanBatch, sizeOf } from '../log/append-scans.ts';
import { endServerSpan, type Span, serverSpan, type Tracing } from '../tracing/tracing.ts';
import type { LimitedRecorder } from './limited-recorder.ts';
import type { Recorder } from './recorder.ts';
import type { Redirector } from './redirect.ts';

type Redirect = Redirector['redirect'];
type Store = (batch: ScanBatch) => Promise<void>;

const route = '/{short_code}';
/** While Postgres is unavailable, commits of later scans are not traced. */
const maxUncommitted = 10_000;

/** Wraps the parts of an edge that a scan passes through in spans. */
interface EdgeTraces {
  redirects(redirect: Redirect): Redirect;
  recorder(recorder: Pick<Recorder, 'record'>): Pick<Recorder, 'record'>;
  limitedRecorder(limited: Pick<LimitedRecorder, 'record'>): Pick<LimitedRecorder, 'record'>;
  store(store: Store): Store;
}

/** Without tracing, each part is returned as it is. */
export function traceEdge(tracing: Tracing | undefined): EdgeTraces {
  return tracing === undefined ? untraced : new TracedScans(tracing);
}

const untraced: EdgeTraces = {
  redirects: (redirect) => redirect,
  recorder: (recorder) => recorder,
  limitedRecorder: (limited) => limited,
  store: (store) => store,
};

class TracedScans implements EdgeTraces {
  readonly #tracing: Tracing;
  /** The spans of scans that are not committed yet, by the id of the scan. */
  readonly #uncommitted = new Map<string, Span>();

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  redirects(redirect: Redirect): Redirect {
    const tracing = this.#tracing;
    return async (request, link, peer, domain) => {
      const { name, attributes } = serverSpan(request.method, route);
      const parent = tracing.parentOf(request.headers, peer);
      const span = tracing.start(name, { kind: 'server', parent, attributes });
      if (!span.isRecording()) return redirect(request, link, peer, domain);
      const response = await tracing.within(span, () => redirect(request, link, peer, domain));
      endServerSpan(tracing, span, response.status);
      return response;
    };
  }

  recorder(recorder: Pick<Recorder, 'record'>): Pick<Recorder, 'record'> {
    return {
      record: (scan) =>
        this.#note(scan, async (span) => {
          if (span !== undefined && this.#uncommitted.size < maxUncommitted) this.#uncommitted.set(scan.id, span);
          try {
            await recorder.record(scan);
          } catch (error) {
            this.#uncommitted.delete(scan.id);
            throw error;
          }
        }),
    };
  }

  limitedRecorder(limited: Pick<LimitedRecorder, 'record'>): Pick<LimitedRecorder, 'record'> {
    const tracing = this.#tracing;
    return {
      record: (known, scan) =>
        this.#note(scan, (span) => {
          if (span === undefined) return limited.record(known, scan);
          return tracing.record('INSERT scans', insertOf(1, [span]), () => limited.record(known, scan));
        }),
    };
  }

  /**
   * A commit of several scans is in the trace of the first that is sampled, with links to all that are. It may follow the
   * redirect.
   */
  store(store: Store): Store {
    return async (batch) => {
      if (this.#uncommitted.size === 0) return store(batch);
      const ids = batch.columns.id.slice(1, -1).split(',');
      const spans = ids.flatMap((id) => this.#uncommitted.get(id) ?? []);
      if (spans.length === 0) return store(batch);
      await this.#tracing.record('INSERT scans', insertOf(sizeOf(batch), spans), () => store(batch));
      for (const id of ids) this.#uncommitted.delete(id);
    };
  }

  /** Names the scan in the span of its redirect. */
  async #note<T>(scan: Scan, record: (span: Span | undefined) => Promise<T>): Promise<T> {
    const span = this.#tracing.active();
    if (span === undefined) return record(undefined);
    span.setAttributes({ 'scanlog.scan.id': scan.id, 'scanlog.code.id': scan.code });
    return record(span);
  }
}

const insertOf = (scans: number, spans: Span[]) => ({
  kind: 'client' as const,
  parent: spans[0],
  links: spans,
  attributes: {
    'db.system.name': 'postgresql',
    'db.operation.name': 'INSERT',
    'db.collection.name': 'scans',
    'db.operation.batch.size': scans,
  },
});
