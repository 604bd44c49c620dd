import type { JobMessage } from '../../src/render/jobs.ts';

const answer = (response: object, cpuMs = 1) => process.send?.(Object.assign({ cpuMs }, response));

/** A render process that does what the URL of an image says. */
process.on('message', async (message: JobMessage) => {
  const order = message.kind === 'image' ? message.job.url : message.kind;
  switch (order) {
    case 'hang':
      for (;;);
    case 'exit':
      return process.exit(0);
    case 'take all memory': {
      const taken: Uint8Array[] = [];
      for (;;) taken.push(new Uint8Array(16 * 1024 * 1024).fill(1));
    }
    case 'take 1,000 ms':
      return answer({ result: order }, 1_000);
    case 'environment':
      return answer({ result: Object.keys(process.env) });
    case 'wrong':
      return answer({ error: { isRange: true, message: 'is wrong' } });
    default:
      return answer({ result: `${process.pid} ${order}` });
  }
});
process.on('disconnect', () => process.exit());
