import { type Flags, readConfig, requireParts } from '../config.ts';
import { createLogger } from '../lib/logger.ts';
import { plainHttpWarning } from '../server.ts';
import { isChild, startChild, startFamily } from './family.ts';
import { stopInTime, stopWithinMs, untilAskedToStop } from './stopping.ts';

/** The service alone, against servers that run elsewhere. */
export async function serve(flags: Flags): Promise<void> {
  const config = requireParts(readConfig(process.env, flags));
  const log = createLogger(config.logLevel);
  const asked = untilAskedToStop();
  const warning = isChild() ? undefined : plainHttpWarning(config);
  if (warning !== undefined) log.warn(warning);
  const told = Promise.withResolvers<void>();
  const service = isChild() ? await startChild(config, log, told.resolve) : await startFamily(config, log);
  service.ready.then(
    () => log.info({ url: service.addresses.publicUrl, port: service.port, roles: config.roles }, 'ready'),
    () => {},
  );
  try {
    // A start that fails for good is an end, too.
    await Promise.race([asked, told.promise, service.ready.then(() => Promise.race([asked, told.promise]))]);
    log.info('stopping');
  } finally {
    await stopInTime(service.stop, isChild() ? stopWithinMs.member : stopWithinMs.family, log);
  }
}
