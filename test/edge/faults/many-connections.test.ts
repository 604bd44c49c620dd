import { expect, test } from 'vitest';
import { untilSeen, useProxiedService } from './fault-support.ts';

const service = useProxiedService();

test('300 connections, committed by several writers of one edge: no scan is lost or duplicated while Postgres is down or does not answer', async () => {
  const scanner = await service.scanCodes(3, { connections: 300, pauseMs: 0 });
  await untilSeen(scanner, 302, 2_000);
  await service.proxy.cut();
  await untilSeen(scanner, 302, 1_000);
  await service.proxy.restore();
  await untilSeen(scanner, 302, 1_000);
  service.proxy.stall();
  await untilSeen(scanner, 302, 1_000);
  await service.proxy.restore();
  await untilSeen(scanner, 302, 1_000);
  await scanner.stop();

  const [{ writers }] = await service.database.sql<[{ writers: number }]>`
    SELECT count(*) AS writers FROM scan_writers`;
  expect(writers, 'commits were in flight at once').toBeGreaterThan(1);
  await service.expectExact(scanner.attempts);
});
