import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Caller, Rate } from '../../accounts/admission.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { OperationId } from './access.ts';
import type { ApiResponse, StreamedResponse } from './responses.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The groups of operations in the documentation, in order. */
export const tags = {
  'QR codes': 'Create, list, change and delete QR codes, download their images, and read the history of their changes.',
  Logos: 'Images that QR codes can have in their center: upload, list, get and delete them.',
  Print: 'Find out whether a style scans before it is printed, and print many codes on label sheets.',
  'Static codes': 'QR codes that contain something else than a short link, such as the access to a Wi-Fi network.',
  Analytics: 'Scans of one code, or of all codes of the account: summaries, time series, single scans and exports.',
  'Shared pages': 'Public pages of statistics, for people without an account.',
  Alerts: 'Be told when something needs attention: a code that is no longer scanned, a website that is down, a limit.',
  Reports: 'Statistics that are mailed every week or month, as PDF or CSV.',
  Domains:
    'Short links on a domain of your own: add a domain, prove that it is yours, and set what it does without a code.',
  Account: 'The account of the API key, with its plan, limits and usage, its API keys and its members.',
  Events: 'The log of the account: scans and changes in the order in which they were recorded, to read or to follow.',
  Webhooks:
    'Webhooks for any events, filtered by type, code and tag: their secrets, the log of their deliveries, and replays of past events.',
  Webhook: 'The URL that every scan is sent to, its signing secret, and the log of deliveries.',
} as const;
export type Tag = keyof typeof tags;

/** One authenticated and validated request to an operation. */
export interface Call<Q extends TObject, B extends TSchema> {
  caller: Caller;
  rate: Rate;
  params: Record<string, string>;
  query: Static<Q>;
  body: Static<B>;
  headers: Headers;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** One method of one path: its parameters, responses, documentation and handler. */
export interface Operation<Q extends TObject = TObject, B extends TSchema = TSchema> {
  /**
   * Unique, camelCase, a verb first: `createQrCode`. Generated clients name their functions after it. What a caller needs for
   * it is in access.ts.
   */
  operationId: OperationId;
  method: Method;
  path: `/v1/${string}`;
  tag: Tag;
  summary: string;
  description: string;
  /** Description of each `:name` in the path. */
  params?: Record<string, string>;
  query?: Q;
  body?: B;
  /** Replaces validation by the schema, for bodies whose errors need more context, such as the index of an item. */
  checkBody?(body: unknown): Static<B>;
  /** For an operation that takes a file instead of JSON: the media types, and what reads the body. */
  upload?: string[];
  /** The content of a file, if one of the media types is JSON. */
  uploadExample?: object;
  readBody?(request: Request): Promise<unknown>;
  /** Request headers, each with its description. */
  headers?: Record<string, string>;
  /** JSON of `schema`, a file of one of the types in `files`, or either, as the client requests. */
  success: {
    status: 200 | 201 | 202;
    description: string;
    schema?: TSchema;
    files?: string[];
    /** Whether clients may cache the file; a conditional request is answered with 304. */
    cacheable?: boolean;
    /** Response headers, besides those that every response has. */
    headers?: Record<string, { description: string; example: string | number }>;
  };
  /** Whether `not_found` means that nothing is set, which is no error: the console answers `null` instead. */
  mayBeUnset?: boolean;
  /** Timeout, if the operation waits for more than Postgres. */
  answerWithinMs?: number;
  /** Error codes, besides those that every operation, and every operation with a body, can return. */
  errors: ErrorCode[];
  handle(call: Call<Q, B>): Promise<ApiResponse | StreamedResponse>;
}

/** Infers the types of one operation from its schemas, and erases them so that one list can hold all operations. */
export const operation = <Q extends TObject, B extends TSchema>(definition: Operation<Q, B>): Operation =>
  definition as unknown as Operation;
