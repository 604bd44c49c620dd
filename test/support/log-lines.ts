import { createLogger, type Logger } from '../../src/lib/logger.ts';

export type LogLine = Record<string, unknown>;

/** A logger at level debug that stores its lines; `warnings` has those of levels warn and error, for messages of failures. */
export function captureLog(): { log: Logger; text(): string; lines(): LogLine[]; warnings(): string } {
  const chunks: string[] = [];
  const log = createLogger('debug', false, { write: (chunk) => chunks.push(chunk) });
  const lines = (): LogLine[] => chunks.flatMap((chunk) => chunk.trimEnd().split('\n')).map((line) => JSON.parse(line));
  const isWarning = ({ level }: LogLine) => level === 'warn' || level === 'error';
  return { log, text: () => chunks.join(''), lines, warnings: () => JSON.stringify(lines().filter(isWarning)) };
}
