import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { authorization } from './clickhouse-server.ts';
import { endless, errorOf, type Subject } from './clickhouse-subject.ts';

/** The server in front of an engine. */
export function httpSuite(subject: Subject): void {
  describe('answers', () => {
    test('a ping', async () => {
      expect(await subject.client.ping()).toEqual({ success: true });
    });

    test('only to the right user and password', async () => {
      for (const given of [{ password: 'guess' }, { username: 'other' }]) {
        const stranger = subject.server.client(given);
        expect(await errorOf(stranger.query({ query: 'SELECT 1' }))).toEqual({
          code: '516',
          type: 'AUTHENTICATION_FAILED',
        });
        await stranger.close();
      }
      expect((await fetch(subject.server.url, { method: 'POST', body: 'SELECT 1' })).status).toBe(500);
    });

    test('with an error for a value that a server would refuse, in the URL and in a form', async () => {
      const length = (value: string, use_multipart_params = false) =>
        subject.client.query({
          query: 'SELECT toUInt32(length({p:String})) AS n',
          query_params: { p: value },
          use_multipart_params,
          format: 'JSONEachRow',
        });
      const max = 131_072;
      for (const inForm of [false, true]) {
        expect(await (await length('x'.repeat(max), inForm)).json()).toEqual([{ n: max }]);
        await expect(length('x'.repeat(max + 1), inForm)).rejects.toThrow('Field value too long');
      }
      // The limit counts encoded bytes in a URL only.
      expect(await (await length(' '.repeat(max), true)).json()).toEqual([{ n: max }]);
      await expect(length('ü'.repeat(max / 3))).rejects.toThrow('Field value too long');
    });

    test('with an error while too many wait, and again after they disconnected', async () => {
      const clients = subject.server.client({ max_open_connections: 110 });
      const disconnecting = new AbortController();
      const reads = Array.from({ length: 110 }, () =>
        errorOf(clients.query({ query: endless, abort_signal: disconnecting.signal })),
      );
      expect(await Promise.race(reads)).toEqual({ code: '202', type: 'TOO_MANY_SIMULTANEOUS_QUERIES' });
      disconnecting.abort();
      await Promise.all(reads);
      await clients.close();
      // Slots are released when the server has noticed the disconnects.
      await eventually(async () => expect(await subject.one('SELECT 1')).toBe(1));
    });
  });

  test('stores nothing of an incomplete request', async () => {
    await subject.makeTable('whole', 'a UInt8');
    const query = new URLSearchParams({ query: 'INSERT INTO tests.whole FORMAT TabSeparated' });
    const sending = request(`${subject.server.url}/?${query}`, { method: 'POST', headers: { authorization } });
    const closed = new Promise((resolve) => sending.on('error', () => {}).once('close', resolve));
    await new Promise((resolve) => sending.write('1\n', resolve));
    await subject.client.ping();
    sending.destroy();
    await closed;
    expect(Number(await subject.one('SELECT count() FROM tests.whole'))).toBe(0);
  });
}
