import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Loads the service in a process of its own, starts its traces with each environment, and prints what is loaded then. */
const script = `
  await import('./src/service/start.ts');
  const { readConfig } = await import('./src/config/config.ts');
  const { startTracing } = await import('./src/service/tracing.ts');
  const { createLogger } = await import('./src/lib/logger.ts');
  const { createMetrics } = await import('./src/lib/metrics.ts');
  const parts = { log: createLogger('silent', false), metrics: createMetrics(), cleanup: { add() {} } };
  for (const environment of JSON.parse(process.argv[1])) {
    const config = { ...readConfig(environment), databaseUrl: 'postgres://127.0.0.1:1/none' };
    const tracing = await startTracing(config, parts);
    const modules = Object.keys(require.cache).filter((path) => /opentelemetry.(sdk|exporter|otlp|core)/.test(path));
    console.log(JSON.stringify({ isOn: tracing !== undefined, isLoaded: modules.length > 0 }));
  }
  process.exit(0);
`;

test('without a collector, or with OTEL_SDK_DISABLED, no module of the SDK is loaded', async () => {
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const environments = [{}, { ...collector, OTEL_SDK_DISABLED: 'true' }, collector];
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, JSON.stringify(environments)], {
    cwd: root,
  });
  const off = { isOn: false, isLoaded: false };
  // The last one shows that the check finds the SDK.
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([off, off, { isOn: true, isLoaded: true }]);
});
