import { messageOf } from '../../lib/errors.ts';
import { QueueFull } from '../../lib/semaphore.ts';

/** An error in the form that ClickHouse and chdb use, from which the client parses code and name. */
const clickhouseError = (code: number, name: string, message: string) =>
  new Error(`Code: ${code}. DB::Exception: ${message}. (${name})`);

export const cancelled = () => clickhouseError(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled');
export const unauthenticated = () => clickhouseError(516, 'AUTHENTICATION_FAILED', 'The user or password is wrong');
export const valueTooLong = (name: string, maxBytes: number) =>
  clickhouseError(1000, 'POCO_EXCEPTION', `Field value too long: ${name} has more than ${maxBytes} bytes`);
const queueFull = () => clickhouseError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many simultaneous queries');

/** The text of any error in that form. */
export function errorText(error: unknown): string {
  const message = messageOf(error instanceof QueueFull ? queueFull() : error);
  return message.startsWith('Code: ') ? message : messageOf(clickhouseError(1002, 'UNKNOWN_EXCEPTION', message));
}
