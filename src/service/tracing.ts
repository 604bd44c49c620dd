import packageJson from '../../package.json' with { type: 'json' };
import type { ServiceConfig } from '../config/config.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Cleanup } from './cleanup.ts';

interface TracingParts {
  log: Logger;
  metrics: Metrics;
  cleanup: Cleanup;
}

/** Starts traces if the settings name a collector. Without one, the SDK is not even loaded. */
export async function startTracing(
  config: ServiceConfig,
  { log, metrics, cleanup }: TracingParts,
): Promise<Tracing | undefined> {
  const url = collectorUrl(config);
  if (url === undefined || config.otelSdkDisabled) return undefined;
  const { SdkTracing } = await import('../tracing/sdk.ts');
  const tracing = new SdkTracing({
    url,
    headers: config.otlpHeaders ?? {},
    serviceName: config.otelServiceName,
    serviceVersion: packageJson.version,
    resourceAttributes: config.otelResourceAttributes ?? {},
    sampler: config.otelTracesSampler,
    ratio: config.otelTracesSamplerArg,
    trustedProxies: config.trustedProxies,
    traceparentFrom: config.traceparentFrom,
    log,
    metrics,
  });
  cleanup.add(() => tracing.stop());
  log.info({ sampler: config.otelTracesSampler, ratio: config.otelTracesSamplerArg }, 'traces are on');
  return tracing;
}

const collectorUrl = ({ otlpEndpoint, otlpTracesEndpoint }: ServiceConfig): string | undefined =>
  otlpTracesEndpoint ?? (otlpEndpoint === undefined ? undefined : `${otlpEndpoint}/v1/traces`);
