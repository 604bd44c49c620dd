import { describe, expect, test } from 'vitest';
import { bytes, compareClocks, isAtLeast } from '../../src/cli/doctor/finding.ts';
import { reasonOf } from '../../src/cli/doctor/reasons.ts';

describe('findings of ./scanlog doctor', () => {
  test.each([
    [0, 'ok'],
    [-5_000, 'warning'],
    [5_000, 'warning'],
    [-60_000, 'error'],
    [60_000, 'error'],
  ])('a clock difference of %d ms is %s', async (offsetMs, status) => {
    const now = new Date();
    const outcome = await compareClocks(
      async () => now.getTime() + offsetMs,
      () => now,
    );
    expect(outcome.status).toBe(status);
    if (status !== 'ok') expect(outcome.message).toMatch(/differs from this machine’s by (5|60)\.0 s: synchronize/);
  });

  test('the duration of the request is not counted as a difference of clocks', async () => {
    const times = [0, 60_000].map((ms) => new Date(ms));
    const clock = () => times.shift() ?? new Date(0);
    expect(await compareClocks(async () => 30_000, clock)).toMatchObject({ status: 'ok' });
  });

  test.each([
    ['2.9.10', true],
    ['2.10.0-beta.1', true],
    ['3.0.1', true],
    ['2.8.4', false],
    ['1.99.0', false],
  ])('version %s is at least 2.9: %s', (version, supported) => {
    expect(isAtLeast(version, [2, 9])).toBe(supported);
  });

  test.each([
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1536, '1.5 KiB'],
    [5 * 1024 ** 3, '5.0 GiB'],
    [9000 * 1024 ** 4, '9000.0 TiB'],
  ])('%d bytes are printed as %s', (count, text) => {
    expect(bytes(count)).toBe(text);
  });

  test('the reason names the CA setting for an untrusted certificate, and all hosts of a cluster', () => {
    const clickhouse = { name: 'ClickHouse', url: 'https://me:secret@ch.example:8443', variable: 'CLICKHOUSE_URL' };
    const untrusted = Object.assign(new Error('unable to verify the first certificate'), {
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
    expect(reasonOf(clickhouse, untrusted)).toBe(
      'The certificate of ClickHouse at ch.example:8443 is not trusted: set NODE_EXTRA_CA_CERTS to the certificate file of your private CA.',
    );
    const nats = { name: 'NATS', url: 'nats://me:secret@a:4222,nats://me:secret@b:4222', variable: 'NATS_URL' };
    expect(reasonOf(nats, Object.assign(new Error('no'), { code: 'ENOTFOUND' }))).toBe(
      'The host name in NATS_URL (a:4222, b:4222) cannot be resolved: correct it.',
    );
  });
});
