import { expect, test } from 'vitest';
import type { OpenApi } from '../support/documented.ts';
import { redoclyFindings, spectralFindings } from '../support/openapi-linters.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

/** As served, with its references. */
const served = async () => (await fetch(`${service.urls[0]}/swagger/json`)).json() as Promise<OpenApi>;

const linters: [name: string, findingsOf: (document: object) => Promise<string[]>, missing: string][] = [
  ['spectral lint (spectral:oas)', spectralFindings, 'info-contact at info: '],
  ['redocly lint (recommended)', redoclyFindings, 'info-license at #/info: '],
];
test.each(linters)('%s reports nothing', async (_, findingsOf) => {
  expect(await findingsOf(await served())).toEqual([]);
});

test.each(linters)('%s reports a missing field', async (_, findingsOf, missing) => {
  const { openapi, servers, info } = await served();
  const { contact, license, ...rest } = info;
  const findings = await findingsOf({ openapi, servers, info: rest, paths: {} });
  expect(findings).toEqual([expect.stringContaining(missing)]);
});
