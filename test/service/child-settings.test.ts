import { expect, test } from 'vitest';
import { addressesOf, readConfig, type ServiceConfig } from '../../src/config/config.ts';
import { childSettings } from '../../src/service/supervisor.ts';

const config = readConfig({}) as ServiceConfig;
const service = { port: 3977, addresses: addressesOf(config, 3977) };

test('links in mails of the background process lead to the service', () => {
  const background = childSettings(config, service, ['projections'], false);
  expect(background).toMatchObject({ port: 0, roles: ['projections'] });
  expect(addressesOf(background, 40_000).publicUrl).toBe('http://localhost:3977');
});

test('an edge shares the port, and knows that no PUBLIC_URL is set', () => {
  const edge = childSettings(config, service, ['edge'], true);
  expect([edge.port, edge.publicUrl]).toEqual([3977, undefined]);
});
