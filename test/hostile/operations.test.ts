import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newCode } from '../support/api.ts';
import { documentOf, type OperationObject } from '../support/documented.ts';
import { eventually } from '../support/eventually.ts';
import { endWindows } from '../support/limits.ts';
import { captureLog } from '../support/log-lines.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { mayCallTests } from '../webhooks/webhook-support.ts';
import { type AnyRequest, requestsTo } from './anything.ts';

const captured = captureLog();
const service = useService({ config: mayCallTests, log: captured.log });

/** No request may take longer, whatever it says. */
const patienceMs = 15_000;
/** Analytics that are read are slow to come by on a small machine; what is refused before is not. */
const runs = (path: string) => (path.includes('analytics') ? 25 : 50);

let operations: [method: string, path: string, operation: OperationObject][];
let owner: TestAccount;

beforeAll(async () => {
  const { paths } = await documentOf(service.urls[0] as string);
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, OperationObject] => [
      method.toUpperCase(),
      path,
      operation,
    ]),
  );
  owner = await service.account();
});

describe('every operation, asked anything', () => {
  test('answers as documented, in good time, and never with an error of ours', async () => {
    expect(operations.length).toBeGreaterThanOrEqual(24);
    const codes = await Promise.all(
      Array.from({ length: 40 }, async () => (await owner.live.post('/v1/qrcodes', newCode())).body.id as string),
    );
    // Side by side: most of the time goes by in waiting for one part or another.
    const queue = [...operations];
    const next = async (): Promise<void> => {
      const operation = queue.pop();
      if (operation === undefined) return;
      await askAnything(operation, codes);
      return next();
    };
    await Promise.all([next(), next(), next(), next()]);
  });

  afterAll(() => {
    const wrong = captured.lines().filter(({ level }) => level === 'error');
    expect(wrong.slice(0, 3), 'nothing that only the log tells').toEqual([]);
    expect(({} as Record<string, unknown>)['polluted'], 'no object has got a field from a body').toBeUndefined();
  });
});

async function askAnything([method, path, operation]: [string, string, OperationObject], ids: string[]): Promise<void> {
  const send = async ({ path: asked, headers, body }: AnyRequest) => {
    const { status, text } = await owner.live.send(asked, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined ? {} : { body: body as string }),
    });
    if (status === 429) await endWindows(service.database.sql);
    // A busy machine may take longer over a read than a read may take: then it is to be asked again, and only then.
    if (status === 429 || (status === 503 && path.includes('analytics'))) throw new Error(`${status} for ${asked}`);
    expect(status, text).toBeLessThan(500);
  };
  await fc.assert(
    fc.asyncProperty(requestsTo(path, operation, ids), (request) => eventually(() => send(request), 20_000)),
    { numRuns: runs(path) },
  );
}
