import { replayState } from '../stream/replay-state.ts';
import { withDatabase } from './connection.ts';
import { progressBar } from './progress.ts';
import { say } from './terminal.ts';

export async function replay(options: { data: string }): Promise<void> {
  const bar = progressBar('replaying state');
  const { events, mended } = await withDatabase(options.data, (sql) => replayState(sql, bar.update));
  bar.end();
  say(
    `Current state was made again from ${events} events; ${mended === 0 ? 'every row was right' : `${mended} rows were mended`}.`,
  );
}
