import { QueueFull } from '../../lib/semaphore.ts';

/** An error as ClickHouse reports it: code, name and message. */
export class EngineError extends Error {
  readonly code: number;
  readonly type: string;

  constructor(code: number, type: string, message: string) {
    super(message);
    this.code = code;
    this.type = type;
  }

  /** The text from which clients parse code and name. */
  text(version: string): string {
    return `Code: ${this.code}. DB::Exception: ${this.message}. (${this.type}) (version ${version})`;
  }
}

export const cancelled = () => new EngineError(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled');
export const notImplemented = (what: string) => new EngineError(48, 'NOT_IMPLEMENTED', what);

const prefix = /^Code: (\d+)\. DB::Exception: /;
const suffix = /\.?\s*\((?:([A-Z][A-Z0-9_]{2,})|version [^()]*)\)\.?\s*$/;

/** Parses an error of chdb. In errors of inserts, code and name occur twice. */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (error instanceof QueueFull)
    return new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many simultaneous queries');
  let text = error instanceof Error ? error.message : String(error);
  let code = 1002;
  let type = 'UNKNOWN_EXCEPTION';
  for (let match = prefix.exec(text); match !== null; match = prefix.exec(text)) {
    code = Number(match[1]);
    text = text.slice(match[0].length);
  }
  for (let match = suffix.exec(text); match !== null; match = suffix.exec(text)) {
    type = match[1] ?? type;
    text = text.slice(0, match.index);
  }
  return new EngineError(code, type, text);
}

const statuses: Readonly<Record<number, readonly number[]>> = {
  400: [6, 7, 8, 15, 25, 26, 27, 36, 38, 41, 44, 53, 62, 72, 117, 167, 168, 321, 376, 427, 441, 675, 676],
  401: [194],
  403: [192, 193, 497, 512, 516],
  404: [46, 47, 50, 56, 60, 63, 73, 78, 81, 109, 115, 336, 511],
  408: [159],
  413: [264, 290],
  501: [48],
  503: [76, 202, 209, 439],
};

/** The mapping of ClickHouse, and 503 for a full queue. */
export function httpStatus(code: number): number {
  return Number(Object.keys(statuses).find((status) => statuses[Number(status)]?.includes(code)) ?? 500);
}
