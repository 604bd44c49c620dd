import { createRequire } from 'node:module';
import pino from 'pino';

export type Logger = pino.Logger;

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/**
 * Creates a logger that writes one line of JSON per entry, or a readable line if stderr is a terminal.
 * Entries may contain routes and ids, but never keys, request bodies or client addresses.
 */
export function createLogger(
  level: (typeof logLevels)[number],
  human = process.stderr.isTTY === true,
  destination: pino.DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (!human) return pino(options, destination);
  // Its 40 files are loaded only by a process that writes to a terminal.
  const pretty: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  return pino(
    options,
    pretty({
      destination: 2,
      sync: true,
      colorize: true,
      translateTime: 'HH:MM:ss',
      hideObject: false,
      singleLine: true,
    }),
  );
}
