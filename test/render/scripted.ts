import type { JobMessage } from '../../src/render/jobs.ts';

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
    case 'environment':
      return process.send?.({ result: Object.keys(process.env) });
    case 'wrong':
      return process.send?.({ error: { isRange: true, message: 'is wrong' } });
    default:
      return process.send?.({ result: `${process.pid} ${order}` });
  }
});
process.on('disconnect', () => process.exit());
