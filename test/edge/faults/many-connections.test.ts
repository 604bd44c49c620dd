import { test } from 'vitest';
import { untilSeen, useProxiedService } from './fault-support.ts';

const service = useProxiedService();

test('300 connections of one edge: no scan is lost or duplicated while Postgres is down or does not answer', async () => {
  const scanner = await service.scanCodes(3, { connections: 300, pauseMs: 0 });
  await untilSeen(scanner, 302, 600);
  await service.proxy.cut();
  await untilSeen(scanner, 302, 600);
  await service.proxy.restore();
  await untilSeen(scanner, 302, 600);
  service.proxy.stall();
  await untilSeen(scanner, 302, 600);
  await service.proxy.restore();
  await untilSeen(scanner, 302, 600);
  await scanner.stop();

  await service.expectExact(scanner.attempts);
});
