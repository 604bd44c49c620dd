import { describe, expect, test } from 'vitest';
import { outcomesOf } from '../../../bench/chaos/scanner.ts';
import { untilSeen, useProxiedService } from './fault-support.ts';

const service = useProxiedService({ config: { spoolMaxBytes: 60_000 } });

describe('a spool that fills while Postgres is down', () => {
  test('answers 503 instead of an unrecorded redirect, and redirects again when Postgres is back', async () => {
    const scanner = await service.scanCodes(2, { connections: 16, pauseMs: 50 });
    await untilSeen(scanner, 302, 50);
    await service.proxy.cut();
    await untilSeen(scanner, 503, 50);
    await service.proxy.restore();
    await untilSeen(scanner, 302, 100);
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()].sort()).toEqual([302, 503]);
    await service.expectExact(scanner.attempts);
  });
});
