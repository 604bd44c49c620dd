import { type Flags, readConfig, requireParts } from '../config/config.ts';
import { createLogger } from '../lib/logger.ts';
import { plainHttpWarning } from '../service/http-server.ts';
import { stopTimeoutMs, stopWithTimeout, untilStopSignal } from '../service/stopping.ts';
import { isChild, startChild, startSupervised } from '../service/supervisor.ts';

/** Runs the service only, on servers that run elsewhere. */
export async function serve(flags: Flags): Promise<void> {
  const config = requireParts(readConfig(process.env, flags));
  const log = createLogger(config.logLevel);
  const signalled = untilStopSignal();
  const warning = isChild() ? undefined : plainHttpWarning(config);
  if (warning !== undefined) log.warn(warning);
  const stoppedByParent = Promise.withResolvers<void>();
  const service = isChild()
    ? await startChild(config, log, stoppedByParent.resolve)
    : await startSupervised(config, log);
  service.ready.then(
    () => log.info({ url: service.addresses.publicUrl, port: service.port, roles: config.roles }, 'ready'),
    () => {},
  );
  try {
    const stopped = Promise.race([signalled, stoppedByParent.promise]);
    // `ready` rejects when the start fails for good.
    await Promise.race([stopped, service.ready.then(() => stopped)]);
    log.info('stopping');
  } finally {
    await stopWithTimeout(service.stop, isChild() ? stopTimeoutMs.child : stopTimeoutMs.supervisor, log);
  }
}
