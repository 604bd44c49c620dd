import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { type Codec, encoder } from './codecs.ts';
import { asEngineError, cancelled, httpStatus } from './errors.ts';
import { contentType, mayHoldFaultMark } from './formats.ts';

export interface Progress {
  read_rows?: number;
  read_bytes?: number;
  written_rows?: number;
  written_bytes?: number;
  result_rows?: number;
  result_bytes?: number;
}

/** A client that reads nothing for this long is disconnected, because it holds a slot of the engine. */
const readTimeoutMs = 60_000;
const maxWriteBytes = 1024 * 1024;

/** The response to one query. */
export class Answer {
  readonly #response: ServerResponse;
  readonly #version: string;
  readonly #startedAt = process.hrtime.bigint();
  #encoder: Transform | undefined;
  #faultTag: string | undefined;

  constructor(response: ServerResponse, version: string) {
    this.#response = response;
    this.#version = version;
  }

  begin(id: string, format: string, codec: Codec | undefined, progress: Progress): void {
    const elapsed = process.hrtime.bigint() - this.#startedAt;
    const head: Record<string, string> = {
      'content-type': contentType(format),
      'x-clickhouse-query-id': id,
      'x-clickhouse-format': format,
      'x-clickhouse-summary': summary(progress, elapsed),
    };
    if (!mayHoldFaultMark(format)) {
      this.#faultTag = randomBytes(8).toString('hex');
      head['x-clickhouse-exception-tag'] = this.#faultTag;
    }
    if (codec !== undefined) {
      head['content-encoding'] = codec;
      this.#encoder = encoder(codec);
      this.#encoder.pipe(this.#response);
    }
    this.#response.writeHead(200, head);
  }

  get #out() {
    return this.#encoder ?? this.#response;
  }

  async write(data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length; at += maxWriteBytes) {
      if (this.#response.destroyed) throw cancelled();
      if (!this.#out.write(data.subarray(at, at + maxWriteBytes))) await this.#drained();
    }
  }

  end(): void {
    this.#out.end();
  }

  fail(error: unknown, id: string | undefined): void {
    const engineError = asEngineError(error);
    const text = engineError.text(this.#version);
    if (this.#response.destroyed) return;
    if (this.#response.headersSent) {
      this.#breakOff(text);
      return;
    }
    this.#response.writeHead(httpStatus(engineError.code), {
      'content-type': 'text/plain; charset=UTF-8',
      'x-clickhouse-exception-code': String(engineError.code),
      ...(id === undefined ? {} : { 'x-clickhouse-query-id': id }),
    });
    this.#response.end(`${text}\n`);
  }

  /** Rows are already sent: appends the error to them, as ClickHouse does, and never ends the response as complete. */
  #breakOff(text: string): void {
    const response = this.#response;
    const last = (bytes: Uint8Array | string) => response.write(bytes, () => response.destroy());
    if (this.#faultTag === undefined) {
      response.destroy();
      return;
    }
    const message = `${text}\n`;
    const length = Buffer.byteLength(message);
    const [open, close] = [`__exception__\r\n${this.#faultTag}`, `${this.#faultTag}\r\n__exception__`];
    const mark = `\r\n${open}\r\n${message}${length} ${close}\r\n`;
    response.setTimeout(readTimeoutMs, () => response.destroy());
    if (this.#encoder === undefined) {
      last(mark);
      return;
    }
    // The compressed data must be complete, or the client could not decode the error; the response is still cut off.
    const rest: Buffer[] = [];
    this.#encoder.unpipe(response);
    this.#encoder.on('data', (bytes: Buffer) => rest.push(bytes)).resume();
    this.#encoder.once('end', () => last(Buffer.concat(rest)));
    this.#encoder.end(mark);
  }

  async #drained(): Promise<void> {
    const timeout = AbortSignal.timeout(readTimeoutMs);
    const disconnected = new AbortController();
    const onClose = () => disconnected.abort();
    this.#response.once('close', onClose);
    try {
      await once(this.#out, 'drain', { signal: AbortSignal.any([timeout, disconnected.signal]) });
    } catch {
      this.#response.destroy();
      throw cancelled();
    } finally {
      this.#response.off('close', onClose);
    }
  }
}

function summary(progress: Progress, elapsedNs: bigint): string {
  const zeros = { read_rows: 0, read_bytes: 0, written_rows: 0, written_bytes: 0, result_rows: 0, result_bytes: 0 };
  const counts = Object.entries({ ...zeros, ...progress, total_rows_to_read: 0, elapsed_ns: elapsedNs });
  return JSON.stringify(Object.fromEntries(counts.map(([name, value]) => [name, String(value)])));
}
