import { describe, expect, test } from 'vitest';
import { type DnsServer, DnsUnavailable, dnsClient, readDnsServer } from '../../src/lib/dns.ts';
import { useDns } from '../support/dns-server.ts';
import { eventually } from '../support/eventually.ts';
import { useTimeouts } from '../support/timeouts.ts';

const dns = useDns();
/** For queries that get no answer. */
const quick = { dnsQueryMs: 100 };
const query = (name: string, type: 'A' | 'AAAA' | 'TXT', servers: DnsServer[] = dns.servers) =>
  dnsClient(servers)(name, type, new AbortController().signal);

describe('records', () => {
  test('of each type, and none for a name that does not exist or has none of that type', async () => {
    dns.set('all.test', { A: ['203.0.113.7', '203.0.113.8'], AAAA: ['2001:db8::7'], TXT: ['one', 'two'] });
    expect((await query('all.test', 'A')).toSorted()).toEqual(['203.0.113.7', '203.0.113.8']);
    expect(await query('all.test', 'AAAA')).toEqual(['2001:db8::7']);
    expect((await query('all.test', 'TXT')).toSorted()).toEqual(['one', 'two']);
    dns.set('no-address.test', { TXT: ['one'] });
    expect(await query('no-address.test', 'A')).toEqual([]);
    expect(await query('nothing.test', 'TXT')).toEqual([]);
  });

  test('follow a CNAME', async () => {
    dns.set('alias.test', { CNAME: 'all-of.test' });
    dns.set('all-of.test', { A: ['203.0.113.9'] });
    expect(await query('alias.test', 'A')).toEqual(['203.0.113.9']);
  });

  test('a TXT record that is split into strings is one value', async () => {
    const long = 'x'.repeat(300);
    dns.set('split.test', {
      TXT: [
        ['scanlog-', 'verify=', 'abc'],
        [long.slice(0, 255), long.slice(255)],
      ],
    });
    expect((await query('split.test', 'TXT')).toSorted()).toEqual(['scanlog-verify=abc', long].toSorted());
  });

  test('are read over TCP if a datagram cannot have them', async () => {
    const many = Array.from({ length: 40 }, (_, i) => `${i}`.padStart(200, 'v'));
    dns.set('truncated.test', { TXT: many });
    dns.fail('truncated.test', 'truncated');
    expect((await query('truncated.test', 'TXT')).toSorted()).toEqual(many.toSorted());
    expect(dns.queries('truncated.test')).toEqual({ udp: 1, tcp: 1 });
  });
});

describe('a server that fails', () => {
  test('an error is reported', async () => {
    dns.fail('servfail.test', 'servfail');
    await expect(query('servfail.test', 'A')).rejects.toThrow(new DnsUnavailable('answered with the error SERVFAIL'));
  });

  test('the next server is queried', async () => {
    dns.set('next.test', { A: ['203.0.113.1'] });
    // Nothing listens there: port 1 is not handed out.
    expect(await query('next.test', 'A', [{ address: '127.0.0.1', port: 1 }, ...dns.servers])).toEqual(['203.0.113.1']);
    await expect(query('next.test', 'A', [])).rejects.toThrow('no DNS server');
  });
});

describe('a server without an answer', () => {
  useTimeouts(quick);

  test.each(['silent', 'forged', 'garbage'] as const)('%s: it is queried twice, then given up', async (fault) => {
    dns.set(`${fault}.test`, { TXT: ['forged'] });
    dns.fail(`${fault}.test`, fault);
    await expect(query(`${fault}.test`, 'TXT')).rejects.toThrow(new DnsUnavailable('did not answer'));
    await eventually(() => expect(dns.queries(`${fault}.test`)).toEqual({ udp: 2, tcp: 0 }));
  });
});

test('addresses of servers', () => {
  expect(readDnsServer('127.0.0.1')).toEqual({ address: '127.0.0.1', port: 53 });
  expect(readDnsServer('127.0.0.1:5353')).toEqual({ address: '127.0.0.1', port: 5353 });
  expect(readDnsServer('[::1]:5353')).toEqual({ address: '::1', port: 5353 });
  expect(readDnsServer('::1')).toEqual({ address: '::1', port: 53 });
  for (const text of ['', 'dns.test:53', '127.0.0.1:0', '127.0.0.1:65536', '127.0.0.1:x', '[::1]:', '1.2.3'])
    expect(readDnsServer(text), text).toBeUndefined();
});
