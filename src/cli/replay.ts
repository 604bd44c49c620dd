import { replayAnalytics } from '../maintenance/replay-analytics.ts';
import { replayState } from '../maintenance/replay-state.ts';
import { withDatabase, withWarehouse } from './connection.ts';
import { progressBar } from './progress.ts';
import type { replayable } from './replayable.ts';
import { print } from './terminal.ts';

const replays: Record<(typeof replayable)[number], (data: string) => Promise<string>> = {
  async state(data) {
    const bar = progressBar('replaying state');
    const { events, corrected } = await withDatabase(data, (sql) => replayState(sql, bar.update));
    bar.end();
    const rows = corrected === 0 ? 'every row was correct' : `${corrected} rows were corrected`;
    return `State is rebuilt from ${events} events; ${rows}.`;
  },

  async analytics(data) {
    const bar = progressBar('replaying analytics');
    const { scans } = await withWarehouse(data, (parts) => replayAnalytics({ ...parts, onProgress: bar.update }));
    bar.end();
    return `Analytics are rebuilt from the log: ${scans.toLocaleString('en')} scans of existing codes.`;
  },
};

export async function replay(projection: keyof typeof replays, options: { data: string }): Promise<void> {
  print(await replays[projection](options.data));
}
