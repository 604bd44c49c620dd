import type { Caller, Rate } from '../../accounts/admission.ts';
import { Refusal } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import type { OperationId } from '../http/access.ts';
import type { Operation } from '../http/operation.ts';
import { type ApiResponse, type StreamedResponse, unavailable } from '../http/responses.ts';
import { handlerOf } from '../mount.ts';

export type Operations = ReadonlyMap<OperationId, Operation>;

export interface Arguments {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls operations of the API for one caller, as a request to /v1 would. */
export interface Invoke {
  /** The JSON that the operation answers. `T` is not checked: the schema of the operation says what it is. */
  json<T>(id: OperationId, args: Arguments): Promise<T>;
  /** The file that the operation answers. */
  file(id: OperationId, args: Arguments): Promise<{ bytes: Uint8Array; type: string }>;
}

/** The Base64 text of a file is held in memory once for each call that is answered. */
const maxFileBytes = 2 * 1024 * 1024;

/** Returns what calls operations for a caller. Whether a caller may call them is decided by the scope of the tool. */
export function invoker(operations: Operations) {
  const handlers = new Map([...operations].map(([id, operation]) => [id, { operation, handle: handlerOf(operation) }]));

  return (caller: Caller, rate: Rate, signal: AbortSignal): Invoke => {
    async function call(id: OperationId, { params = {}, query, body, headers = {} }: Arguments) {
      const handler = handlers.get(id);
      if (handler === undefined) throw new Error(`there is no operation ${id}`);
      const { operation, handle } = handler;
      const request = new Request(`http://localhost/?${searchOf(query)}`, {
        method: operation.method,
        headers: { 'content-type': 'application/json', ...headers },
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return withTimeout(
        handle({ caller, rate, params }, request),
        operation.answerWithinMs ?? timeouts.apiMs,
        (): never => {
          throw unavailable();
        },
      );
    }

    return {
      async json<T>(id: OperationId, args: Arguments) {
        const response = await call(id, args);
        return JSON.parse(Buffer.from(await bytesOf(response)).toString()) as T;
      },
      async file(id, args) {
        const response = await call(id, args);
        return {
          bytes: await bytesOf(response),
          type: response.headers?.['content-type'] ?? 'application/octet-stream',
        };
      },
    };
  };
}

/** A list becomes a parameter that is repeated, as in a request. */
function searchOf(query: Record<string, unknown> = {}): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined) search.append(name, String(item));
  return search;
}

async function bytesOf(response: ApiResponse | StreamedResponse): Promise<Uint8Array> {
  if ('body' in response) return typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.pieces) {
    size += piece.byteLength;
    if (size > maxFileBytes)
      throw new Refusal(
        'payload_too_large',
        `The file is larger than ${maxFileBytes / 1024 / 1024} MiB: ask for fewer codes at a time.`,
      );
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
