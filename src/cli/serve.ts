import { type Flags, readConfig, requireParts } from '../config.ts';
import { createLogger } from '../lib/logger.ts';
import { startService } from '../main.ts';
import { untilAskedToStop } from './stopping.ts';

/** The service alone, against servers that run elsewhere. */
export async function serve(flags: Flags): Promise<void> {
  const config = requireParts(readConfig(process.env, flags));
  const log = createLogger(config.logLevel);
  const asked = untilAskedToStop();
  const service = await startService(config, { log });
  service.ready.then(() =>
    log.info({ url: service.addresses.publicUrl, port: service.port, roles: config.roles }, 'ready'),
  );
  const signal = await Promise.race([asked, service.ready.then(() => asked)]);
  log.info({ signal }, 'stopping');
  await service.stop();
}
