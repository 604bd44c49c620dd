import type { Rate } from '../../accounts/admission.ts';
import { isWarehouseUnavailable } from '../../analytics/errors.ts';
import { ArchiveError } from '../../archive/errors.ts';
import { type FieldError, messageOf, Refusal, requestClosed, retryLater } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { requestIdOf } from '../../lib/request-id.ts';
import { isPostgresUnavailable } from '../../log/connect.ts';
import { VersionTaken } from '../../log/version-taken.ts';
import { JobDropped, JobTimeout, ProcessLost } from '../../render/renderer.ts';
import { statusOf } from './error-status.ts';

/** Response of an operation, without the headers that every response has. */
export interface ApiResponse {
  status: number;
  body: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** A response that is produced while it is sent, as fast as the client reads it. */
export interface StreamedResponse extends Omit<ApiResponse, 'body'> {
  pieces: AsyncGenerator<Uint8Array>;
}

export const json = (status: number, value: unknown, headers?: Record<string, string>): ApiResponse => ({
  status,
  body: JSON.stringify(value),
  ...(headers === undefined ? {} : { headers }),
});

/** Sets X-Request-Id on a response that has none yet. */
export function withRequestId(request: Request, response: Response): Response {
  if (!response.headers.has('x-request-id')) response.headers.set('x-request-id', requestIdOf(request.headers));
  return response;
}

/** Converts a thrown value to the error that the client receives. Internal details only go to the log. */
export function refusalOf(error: unknown, log: Logger): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof VersionTaken) return new Refusal('conflict', error.message);
  if (isPostgresUnavailable(error)) {
    log.warn({ error: messageOf(error) }, 'Postgres is unavailable: request answered with 503');
    return unavailable();
  }
  if (isWarehouseUnavailable(error)) {
    log.warn({ error: messageOf(error) }, 'ClickHouse is unavailable: request answered with 503');
    return retryLater('Analytics are unavailable right now: try again in a few seconds.');
  }
  if (error instanceof ArchiveError) {
    log.warn({ error: messageOf(error) }, 'the archive cannot be read: request answered with 503');
    return retryLater('Older scans are in an archive that cannot be read right now: try again in a few seconds.');
  }
  if (error instanceof JobDropped) return requestClosed();
  if (error instanceof JobTimeout || error instanceof ProcessLost) {
    log.warn({ error: messageOf(error) }, 'the renderer did not finish: request answered with 503');
    return retryLater('The image could not be drawn before the timeout: try again in a few seconds.');
  }
  log.error(
    { error: messageOf(error), stack: error instanceof Error ? error.stack : undefined },
    'unexpected error: request answered with 500',
  );
  return new Refusal(
    'internal_error',
    'Internal error. Report the X-Request-Id of this response to the operator of the service.',
  );
}

export const unavailable = () =>
  retryLater('The service cannot reach its database right now: try again in a few seconds.');

export function refusalResponse({ code, message, details, headers }: Refusal): ApiResponse {
  const error: { code: string; message: string; details?: FieldError[] } = { code, message };
  if (details !== undefined) error.details = details;
  return json(statusOf[code], { error }, headers);
}

/** Rate limit headers while requests cannot be counted: none left for the 5 s that Retry-After asks to wait. */
const unknownRate = (): Rate => ({ limit: 60, used: 60, reset: Math.ceil(Date.now() / 1000) + 5 });

/** Waits for the first piece, so that an error until then has its own status. */
export async function started(pieces: AsyncGenerator<Uint8Array>): Promise<AsyncGenerator<Uint8Array>> {
  const first = await pieces.next();
  return (async function* () {
    if (first.done !== true) yield first.value;
    yield* pieces;
  })();
}

/** Streams the pieces. An error closes the connection, since a truncated response must not look complete. */
export function streamOf(pieces: AsyncGenerator<Uint8Array>, log: Logger): ReadableStream<Uint8Array> {
  let isConnected = true;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          if (isConnected) log.warn({ error: messageOf(error) }, 'response failed part-way: connection closed');
          controller.error(error);
        }
      },
      async cancel() {
        isConnected = false;
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

export function toResponse(
  { status, headers }: Omit<ApiResponse, 'body'>,
  body: ApiResponse['body'] | ReadableStream<Uint8Array> | null,
  requestId: string,
  rate: Rate = unknownRate(),
): Response {
  return new Response(status === 304 ? null : body, {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
      'x-ratelimit-limit': String(rate.limit),
      'x-ratelimit-remaining': String(Math.max(0, rate.limit - rate.used)),
      'x-ratelimit-reset': String(rate.reset),
      ...headers,
    },
  });
}
