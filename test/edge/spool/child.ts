/** A separate process that uses a spool, for tests that kill or limit it. Arguments: task, folder, number. */

import { writeSync } from 'node:fs';
import { openSpool } from '../../../src/edge/spool/spool.ts';
import { StartError } from '../../../src/lib/errors.ts';
import { numbered, numberOf, oldest } from './spool-support.ts';

// A folder in use ends the process without output: the test checks its exit code.
process.on('uncaughtException', (error) => {
  if (!(error instanceof StartError)) writeSync(2, `${error.stack}\n`);
  process.exit(1);
});

const [task = '', folder = '', number = '1'] = process.argv.slice(2);
const print = (line: string) => writeSync(1, `${line}\n`);

/** Appends with 8 concurrent appenders and drains, until it is killed. */
async function appendForever(from: number): Promise<void> {
  const spool = await openSpool({ folder, maxBytes: 2 ** 28, segmentBytes: 50_000 });
  let next = from;
  const appender = async () => {
    for (;;) {
      const current = next++;
      await spool.append(numbered(current, 10 + ((current * 7919) % 5000)));
      print(`stored ${current}`);
    }
  };
  const drainer = async () => {
    for (;;) {
      // Leaves 60 records, so that there is something to recover.
      const record = spool.waiting.records > 60 ? await oldest(spool) : undefined;
      if (record === undefined) await new Promise(setImmediate);
      else {
        print(`taken ${numberOf(record)}`);
        await spool.drop();
      }
    }
  };
  await Promise.all([drainer(), ...Array.from({ length: 8 }, appender)]);
}

/** Appends `count` records one after another, and prints whether each was stored. */
async function appendAll(count: number): Promise<void> {
  const spool = await openSpool({ folder, maxBytes: 2 ** 28 });
  for (let current = 1; current <= count; current++)
    await spool.append(numbered(current, 5_000)).then(
      () => print(`stored ${current}`),
      (error: Error) => print(`refused ${current} ${error.constructor.name}`),
    );
  await spool.close();
}

async function hold(): Promise<void> {
  const spool = await openSpool({ folder, maxBytes: 2 ** 28 });
  print('open');
  // Keeps the spool referenced: its handles must not be closed by the garbage collector.
  setInterval(() => spool.waiting, 60_000);
}

if (task === 'append-for-ever') await appendForever(Number(number));
else if (task === 'append-all') await appendAll(Number(number));
else await hold();
