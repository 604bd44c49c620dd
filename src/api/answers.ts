import { type Fault, messageOf, Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { VersionTaken } from '../log/append.ts';
import { isPostgresUnavailable } from '../log/connect.ts';
import { isWarehouseUnavailable } from '../warehouse/errors.ts';
import type { Rate } from './admission.ts';
import { statusOf } from './error-status.ts';

/** What an operation answers with, ready to be sent. */
export interface Answer {
  status: number;
  body: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** One that is made while it is sent: as fast as the client takes it, and no faster. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  pieces: AsyncGenerator<Uint8Array>;
}

export const json = (status: number, value: unknown, headers?: Record<string, string>): Answer => ({
  status,
  body: JSON.stringify(value),
  ...(headers === undefined ? {} : { headers }),
});

/** Every answer names its request, those of redirects and pages included. */
export function named(request: Request, response: Response): Response {
  if (!response.headers.has('x-request-id')) response.headers.set('x-request-id', requestIdOf(request.headers));
  return response;
}

/** Whatever was thrown, as what the client is told. Nothing of the inside shows; the log has it, under the request id. */
export function refusalOf(error: unknown, log: Logger): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof VersionTaken) return new Refusal('conflict', error.message);
  if (isPostgresUnavailable(error)) {
    log.warn({ error: messageOf(error) }, 'a part is away');
    return unavailable();
  }
  if (isWarehouseUnavailable(error)) {
    log.warn({ error: messageOf(error) }, 'the warehouse is away');
    return new Refusal('unavailable', 'Analytics cannot be read right now: try again in a few seconds.', undefined, {
      'retry-after': '5',
    });
  }
  log.error({ error: messageOf(error), stack: error instanceof Error ? error.stack : undefined }, 'unexpected error');
  return new Refusal('internal_error', 'Something went wrong on our side. The X-Request-Id of this answer names it.');
}

export const unavailable = () =>
  new Refusal(
    'unavailable',
    'The service cannot reach its database right now: try again in a few seconds.',
    undefined,
    { 'retry-after': '5' },
  );

export function refusalAnswer({ code, message, details, headers }: Refusal): Answer {
  const error: { code: string; message: string; details?: Fault[] } = { code, message };
  if (details !== undefined) error.details = details;
  return json(statusOf[code], { error }, headers);
}

/** While requests cannot be counted, the headers tell to wait as long as Retry-After does. */
const uncounted = (): Rate => ({ limit: 60, used: 60, reset: Math.ceil(Date.now() / 1000) + 5 });

/** What fails in the middle breaks the connection off: an answer must never end as if it were whole. */
export function streamOf(pieces: AsyncGenerator<Uint8Array>, log: Logger): ReadableStream<Uint8Array> {
  let wanted = true;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          if (wanted) log.warn({ error: messageOf(error) }, 'an answer broke off in the middle');
          controller.error(error);
        }
      },
      async cancel() {
        wanted = false;
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

export function toResponse(
  { status, headers }: Omit<Answer, 'body'>,
  body: Answer['body'] | ReadableStream<Uint8Array> | null,
  requestId: string,
  rate: Rate = uncounted(),
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
