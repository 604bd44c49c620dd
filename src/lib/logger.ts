import pino from 'pino';
import pretty from 'pino-pretty';

export type Logger = pino.Logger;

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/**
 * One line of JSON for each entry; the same in a form for people when a person watches.
 * Entries name routes and ids. Keys, bodies and client addresses never go in.
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
