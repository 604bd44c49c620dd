import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { endless, errorOf, type Subject } from './clickhouse-subject.ts';

/** Returns its first rows at once, and then none for hours. */
const stalling = 'SELECT number FROM numbers(100000000000) WHERE number < 70000 OR sipHash64(number) = 1';
const body = (query: string) => `Content-Length: ${query.length}\r\n\r\n${query}`;

export function neighboursSuite(subject: Subject): void {
  describe('still serves other clients', () => {
    test('after clients with running or waiting queries disconnect', async () => {
      const disconnecting = await Promise.all(Array.from({ length: 6 }, () => subject.send('', body(endless))));
      await subject.root.ping();
      for (const socket of disconnecting) socket.destroy();
      expect(await subject.one('SELECT 1')).toBe(1);
    });

    test('after the queue was full, which is answered with 503', async () => {
      const sockets = await Promise.all(Array.from({ length: 110 }, () => subject.send('', body(endless))));
      const [refused] = await Promise.race(sockets.map((socket) => once(socket, 'data')));
      expect(String(refused)).toMatch(/^HTTP\/1\.1 503 [\s\S]+\(TOO_MANY_SIMULTANEOUS_QUERIES\)/);
      for (const socket of sockets) socket.destroy();
      // Slots are released when the server has noticed the disconnects.
      await eventually(async () => expect((await subject.ask('SELECT 1')).status).toBe(200));
    });

    test('after a client closes a result while it reads it', async () => {
      const result = await subject.db.query({ query: stalling, format: 'JSONEachRow' });
      const stream = result.stream();
      stream.on('error', () => {});
      await once(stream, 'data');
      result.close();
      expect(await subject.one('SELECT 1')).toBe(1);
    });

    test('while a client reads slowly, which gets all rows even if others disconnect', async () => {
      const query = 'SELECT number FROM numbers(1000000) FORMAT JSONEachRow';
      const slow = await subject.send('', `Connection: close\r\n${body(query)}`);
      let rows = 0;
      slow.on('data', (bytes) => {
        for (const byte of bytes) if (byte === 0x7d) rows += 1;
      });
      await once(slow, 'data');
      slow.pause();
      expect(await subject.one('SELECT 1')).toBe(1);
      const disconnecting = await subject.send('', body(endless));
      await subject.root.ping();
      disconnecting.destroy();
      expect(await subject.one('SELECT 2')).toBe(2);
      const before = rows;
      slow.resume();
      await once(slow, 'end');
      expect(before).toBeLessThan(1_000_000);
      // One more brace is in the header with the summary.
      expect(rows).toBe(1_000_000 + 1);
    });

    test('after a query exceeds max_execution_time', async () => {
      const bounded = subject.db.query({ query: endless, clickhouse_settings: { max_execution_time: 1 } });
      const next = subject.one('SELECT 1');
      expect(await errorOf(bounded)).toEqual({ code: '159', type: 'TIMEOUT_EXCEEDED' });
      expect(await next).toBe(1);
      expect(Number(await subject.one("SELECT getSetting('max_execution_time')")), 'by default too').toBeGreaterThan(0);
    });
  });
}
