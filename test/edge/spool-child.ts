/** A process of its own that uses a spool, for tests that kill it or limit it. Arguments: what to do, the folder, a number. */

import { writeSync } from 'node:fs';
import { openSpool } from '../../src/edge/spool.ts';
import { StartError } from '../../src/lib/errors.ts';
import { numbered, numberOf } from './spool-support.ts';

// Refused a folder that somebody else has, it ends quietly: the test looks at how.
process.on('uncaughtException', (error) => {
  if (!(error instanceof StartError)) writeSync(2, `${error.stack}\n`);
  process.exit(1);
});

const [task = '', folder = '', number = '1'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);

/** Appends from 8 sides and drains, until it is killed. */
async function appendForEver(from: number): Promise<void> {
  const spool = await openSpool({ folder, maxBytes: 2 ** 28, segmentBytes: 50_000 });
  let next = from;
  const appender = async () => {
    for (;;) {
      const mine = next++;
      await spool.append(numbered(mine, 10 + ((mine * 7919) % 5000)));
      say(`stored ${mine}`);
    }
  };
  const drainer = async () => {
    for (;;) {
      // Behind by some, so that there is something to be found again.
      const record = spool.waiting.records > 60 ? await spool.peek() : undefined;
      if (record === undefined) await new Promise(setImmediate);
      else {
        say(`taken ${numberOf(record)}`);
        await spool.drop();
      }
    }
  };
  await Promise.all([drainer(), ...Array.from({ length: 8 }, appender)]);
}

/** Appends so many records, one after another, whatever comes of each. */
async function appendAll(count: number): Promise<void> {
  const spool = await openSpool({ folder, maxBytes: 2 ** 28 });
  for (let mine = 1; mine <= count; mine++)
    await spool.append(numbered(mine, 5_000)).then(
      () => say(`stored ${mine}`),
      (error: Error) => say(`refused ${mine} ${error.constructor.name}`),
    );
  await spool.close();
}

async function hold(): Promise<void> {
  const spool = await openSpool({ folder, maxBytes: 2 ** 28 });
  say('open');
  // Keeps the spool referenced: its handles must not be closed by the garbage collector.
  setInterval(() => spool.waiting, 60_000);
}

if (task === 'append-for-ever') await appendForEver(Number(number));
else if (task === 'append-all') await appendAll(Number(number));
else await hold();
