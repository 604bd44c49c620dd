import { describe, expect, test } from 'vitest';
import { authorization, errorOf, type Subject } from './clickhouse-subject.ts';

export function faultsSuite(subject: Subject): void {
  describe('reports an error', () => {
    test.each([
      ['selec 1', 400, 62, 'SYNTAX_ERROR'],
      ['SELECT 1; SELECT 2', 400, 62, 'SYNTAX_ERROR'],
      ['SELECT * FROM nowhere', 404, 60, 'UNKNOWN_TABLE'],
      ['SELECT * FROM nowhere.t', 404, 81, 'UNKNOWN_DATABASE'],
      ['SELECT nothing', 404, 47, 'UNKNOWN_IDENTIFIER'],
      ['SELECT no_such_function(1)', 404, 46, 'UNKNOWN_FUNCTION'],
      ['INSERT INTO nowhere FORMAT JSONEachRow {"a":1}', 404, 60, 'UNKNOWN_TABLE'],
      ["KILL QUERY WHERE query_id = 'x' SYNC", 501, 48, 'NOT_IMPLEMENTED'],
      ['SELECT throwIf(1)', 500, 395, 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ])('for %s', async (query, status, code, type) => {
      const answer = await subject.ask(query);
      const text = await answer.text();
      expect({ status: answer.status, code: answer.headers.get('x-clickhouse-exception-code') }).toEqual({
        status,
        code: String(code),
      });
      expect(text).toMatch(
        new RegExp(`^Code: ${code}\\. DB::Exception: (?!Code:)[^]+ \\(${type}\\) \\(version [\\d.]+\\)\n$`),
      );
      expect(await errorOf(subject.db.command({ query }))).toEqual({ code: String(code), type });
    });

    if (subject.isFirst) anyEngine(subject);
  });

  if (subject.engine === 'wasm') countsMemory(subject);
}

function anyEngine(subject: Subject): void {
  test('for an unknown database, setting or path, and for sessions', async () => {
    const nowhere = subject.server.client({ database: 'nowhere' });
    expect(await errorOf(nowhere.query({ query: 'SELECT 1' }))).toEqual({ code: '81', type: 'UNKNOWN_DATABASE' });
    await nowhere.close();
    expect(await (await subject.ask('SELECT 1', '&no_such_setting=1')).text()).toContain('(UNKNOWN_SETTING)');
    expect(await (await subject.ask('SELECT 1', '&session_id=abc')).text()).toContain('(NOT_IMPLEMENTED)');
    expect(await (await fetch(`${subject.server.url}/nowhere`)).status).toBe(404);
  });

  test('for a GET that would write', async () => {
    const headers = { authorization };
    const answer = await fetch(`${subject.server.url}/?query=CREATE+DATABASE+by_get`, { headers });
    expect(await answer.text()).toContain('(READONLY)');
  });
}

/**
 * An engine refuses every query once the memory that it has counted reaches its limit. Native ClickHouse subtracts what
 * it frees. WebAssembly never subtracts about 0.2 MB per query, so its limit must be out of reach
 * (src/stack/clickhouse/wasm-module.ts).
 */
function countsMemory(subject: Subject): void {
  test('does not run out of counted memory after many queries', async () => {
    const countedBytes = async () =>
      Number(await subject.one("SELECT toString(value) FROM system.metrics WHERE metric = 'MemoryTracking'"));
    const limitBytes = Number(
      await subject.one("SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'"),
    );
    const queries = 40;
    const before = await countedBytes();
    for (let i = 0; i < queries; i++) await subject.one('SELECT 1');
    const bytesPerQuery = ((await countedBytes()) - before) / queries;
    expect(limitBytes / Math.max(bytesPerQuery, 1)).toBeGreaterThan(100_000_000);
  });
}
