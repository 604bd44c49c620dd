import { parentPort } from 'node:worker_threads';

/** The other end of `createThread`: answers each request with what `handle` returns. Bytes are moved, not copied. */
export function answerRequests<Q, A>(handle: (request: Q) => Promise<A>): void {
  parentPort?.on('message', async ({ id, request }: { id: number; request: Q }) => {
    try {
      const answer = await handle(request);
      parentPort?.postMessage({ id, answer }, answer instanceof Uint8Array ? [answer.buffer as ArrayBuffer] : []);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      parentPort?.postMessage({ id, error: { isRange: name === 'RangeError', message } });
    }
  });
}
