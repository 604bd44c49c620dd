import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { ErrorCode } from '../lib/errors.ts';
import type { Caller, Rate } from './admission.ts';
import type { Answer, StreamedAnswer } from './answers.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The groups that the documentation sorts operations into, in its order. */
export const tags = {
  'QR codes': 'Create, list, change and delete QR codes, download their images, and read the history of their changes.',
  Analytics: 'Scans of one code, or of all codes of the account: summaries, time series, single scans and exports.',
  Account: 'The account of the API key, with its plan, limits and usage, and the API keys of the account.',
  Webhook: 'The URL that every scan is sent to, its signing secret, and the log of deliveries.',
} as const;
export type Tag = keyof typeof tags;

/** One request to an operation: who asks for what, all of it checked. */
export interface Call<Q extends TObject, B extends TSchema> {
  caller: Caller;
  rate: Rate;
  params: Record<string, string>;
  query: Static<Q>;
  body: Static<B>;
  headers: Headers;
  /** Aborts when the client has gone. */
  signal: AbortSignal;
}

/** One method of one path: what it takes, what it answers, and how it is explained. */
export interface Operation<Q extends TObject = TObject, B extends TSchema = TSchema> {
  method: Method;
  path: `/v1/${string}`;
  tag: Tag;
  summary: string;
  description: string;
  /** What each `:name` of the path is. */
  params?: Record<string, string>;
  query?: Q;
  body?: B;
  /** Checks a body that its schema alone does not, such as items that are to be told apart. Default: the schema. */
  checkBody?(body: unknown): Static<B>;
  /** Headers a client may send, with what each is for. */
  headers?: Record<string, string>;
  /** JSON of a schema, a file of one of these types, or what of them the client asks for. */
  success: {
    status: 200 | 201;
    description: string;
    schema?: TSchema;
    files?: string[];
    /** Whether the file is there to be kept: a client that has it is told so, with 304. */
    keepable?: boolean;
    /** Headers of the answer, besides those that every answer has. */
    headers?: Record<string, { description: string; example: string | number }>;
  };
  /** How long an answer may take, for one that waits for more than our own database. */
  answerWithinMs?: number;
  /** Besides those that every operation can answer with. */
  errors: ErrorCode[];
  handle(call: Call<Q, B>): Promise<Answer | StreamedAnswer>;
}

/** Keeps the types of one operation together, and lets a list hold operations of all types. */
export const operation = <Q extends TObject, B extends TSchema>(definition: Operation<Q, B>): Operation =>
  definition as unknown as Operation;
