/** The samplers of the OpenTelemetry specification. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplerNames)[number];

/** Whose `traceparent` is continued: of clients with a trusted address, or of all requests that trusted proxies forward. */
export const traceparentSources = ['clients', 'proxies'] as const;
export type TraceparentSource = (typeof traceparentSources)[number];
