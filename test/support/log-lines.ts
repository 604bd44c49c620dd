import { createLogger, type Logger } from '../../src/lib/logger.ts';

export type LogLine = Record<string, unknown>;

/** A logger at level debug that stores its lines. */
export function captureLog(): { log: Logger; text(): string; lines(): LogLine[] } {
  const chunks: string[] = [];
  const log = createLogger('debug', false, { write: (chunk) => chunks.push(chunk) });
  return {
    log,
    text: () => chunks.join(''),
    lines: () => chunks.flatMap((chunk) => chunk.trimEnd().split('\n')).map((line) => JSON.parse(line)),
  };
}
