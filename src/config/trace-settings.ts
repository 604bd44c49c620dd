import { boolean, keyValues, ratio, text, webUrl, wordOf } from '../lib/setting-readers.ts';
import { samplerNames, traceparentSources } from '../lib/trace-settings.ts';
import { setting } from './setting.ts';

/** Where traces are sent, and which. The names are the names of OpenTelemetry, except `TRACEPARENT_FROM`. */
export const traceSettings = {
  otlpEndpoint: setting({
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    read: webUrl('http://localhost:4318'),
    about:
      'OpenTelemetry collector to which [traces](operations.md#traces) are sent by OTLP/HTTP, without `/v1/traces`. Default: no traces.',
  }),
  otlpTracesEndpoint: setting({
    variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    read: webUrl('http://localhost:4318/v1/traces'),
    about: 'The same as a complete URL, used instead if both are set.',
  }),
  otlpHeaders: setting({
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    isSecret: true,
    read: keyValues,
    about: 'Headers of requests to the collector: `name=value`, separated by commas, values percent-encoded.',
  }),
  otelServiceName: setting({
    variable: 'OTEL_SERVICE_NAME',
    read: text,
    about: 'Name of this service in traces. Default: `scanlog`.',
  }),
  otelResourceAttributes: setting({
    variable: 'OTEL_RESOURCE_ATTRIBUTES',
    read: keyValues,
    about: 'Attributes of all spans, such as `deployment.environment.name=production`, separated by commas.',
  }),
  otelTracesSampler: setting({
    variable: 'OTEL_TRACES_SAMPLER',
    read: wordOf(samplerNames),
    fallback: 'parentbased_traceidratio',
    about: `Which traces are recorded: ${samplerNames.map((name) => `\`${name}\``).join(', ')}.`,
  }),
  otelTracesSamplerArg: setting({
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    read: ratio,
    fallback: '0.01',
    about: 'The share of traces that a sampler with `traceidratio` records, from 0 to 1.',
  }),
  otelSdkDisabled: setting({
    variable: 'OTEL_SDK_DISABLED',
    read: boolean,
    fallback: 'false',
    about: 'Whether traces are off, whatever the other settings are: `true` or `false`.',
  }),
  traceparentFrom: setting({
    variable: 'TRACEPARENT_FROM',
    read: wordOf(traceparentSources),
    fallback: 'clients',
    about:
      'Whose `traceparent` header is continued: `clients` whose own address is in `TRUSTED_PROXIES`, or every client of these `proxies`, which must then replace the header.',
  }),
};
