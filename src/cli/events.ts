import type { DomainEvent } from '../../events/catalogue.ts';
import type { Recorded } from '../../events/recorded.ts';
import { readEvents, readStream } from '../log/read.ts';
import { withDatabase } from './connection.ts';
import { bold, dim, say } from './terminal.ts';

const pageSize = 500;
const pollMs = 250;

function describe({ position, occurred_at, stream, version, type, data, actor }: Recorded<DomainEvent>): string {
  const place = dim(`${String(position).padStart(8)}  ${occurred_at.toISOString()}`);
  return `${place}  ${stream} ${dim(`v${version}`)}  ${bold(type)}  ${JSON.stringify(data)}  ${dim(`by ${actor}`)}`;
}

/** Prints the log for a person, in its order, and what comes to it from then on if asked. */
export async function showEvents(options: {
  stream?: string;
  follow?: boolean;
  json?: boolean;
  data: string;
}): Promise<void> {
  const { stream, follow = false } = options;
  const print = (event: Recorded<DomainEvent>) => say(options.json ? JSON.stringify(event) : describe(event));
  await withDatabase(options.data, async (sql) => {
    let after = 0;
    for (;;) {
      const events =
        stream === undefined ? await readEvents(sql, after, pageSize) : await readStream(sql, stream, after);
      events.forEach(print);
      after = events.at(-1)?.position ?? after;
      if (events.length > 0) continue;
      if (!follow) return;
      await Bun.sleep(pollMs);
    }
  });
}
