import { describe, expect, test } from 'vitest';
import { password } from './clickhouse-server.ts';
import { errorOf, type Subject } from './clickhouse-subject.ts';

export function answersSuite(subject: Subject): void {
  describe('answers', () => {
    if (subject.isFirst) anyEngine(subject);

    test('to a ping, with and without a query', async () => {
      expect(subject.server.ready).toMatchObject({ ready: true, engine: subject.engine });
      expect(await subject.root.ping()).toEqual({ success: true });
      expect(await subject.root.ping({ select: true })).toEqual({ success: true });
      expect(await (await fetch(`${subject.server.url}/`)).text()).toBe('Ok.\n');
    });

    test('to 20 concurrent queries, each with its own result', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          subject.one('SELECT sum(number) + {n:UInt32} FROM numbers(100000)', { n }),
        ),
      );
      expect(answers.map(Number)).toEqual(Array.from({ length: 20 }, (_, n) => 4_999_950_000 + n));
    });
  });
}

function anyEngine(subject: Subject): void {
  test('only to the right password', async () => {
    const stranger = subject.server.client({ password: 'guess' });
    expect(await errorOf(stranger.query({ query: 'SELECT 1' }))).toEqual({
      code: '516',
      type: 'AUTHENTICATION_FAILED',
    });
    await stranger.close();
    const url = `${subject.server.url}/?query=SELECT+1`;
    expect((await fetch(url)).status).toBe(403);
    const key = { 'x-clickhouse-user': 'default', 'x-clickhouse-key': 'guess' };
    expect((await fetch(url, { headers: key })).status).toBe(403);
    expect((await fetch(`${url}&user=other&password=${encodeURIComponent(password)}`)).status).toBe(403);
    expect((await fetch(`${url}&password=${encodeURIComponent(password)}`)).status).toBe(200);
  });

  test('with the headers of a server', async () => {
    const result = await subject.db.query({ query: 'SELECT 1', query_id: 'given-id', format: 'JSONEachRow' });
    expect(result.query_id).toBe('given-id');
    expect(result.response_headers).toMatchObject({
      'x-clickhouse-query-id': 'given-id',
      'x-clickhouse-format': 'JSONEachRow',
      'x-clickhouse-timezone': expect.stringContaining('UTC'),
      'x-clickhouse-server-display-name': expect.any(String),
      'x-clickhouse-summary': expect.stringContaining('elapsed_ns'),
    });
    expect(await result.json()).toEqual([{ 1: 1 }]);
  });
}
