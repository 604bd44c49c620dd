import { verify } from '../stream/verify.ts';
import { withWarehouse } from './connection.ts';
import { progressBar } from './progress.ts';
import { bold, green, say, table } from './terminal.ts';

const shownAtMost = 50;

/** Compares everything that is made from the log with the log, and ends with an error when they differ. */
export async function showVerification(options: { account?: string; json?: boolean; data: string }): Promise<void> {
  const bar = progressBar('reading the log');
  const result = await withWarehouse(options.data, (parts) =>
    verify({ ...parts, account: options.account, onProgress: bar.update }),
  );
  bar.end();
  const { differences, position, codes, scans, deliveries } = result;
  if (differences.length > 0) process.exitCode = 1;
  if (options.json) {
    say(JSON.stringify(result));
    return;
  }
  const what = `${scans.toLocaleString('en')} scans of ${codes.toLocaleString('en')} codes, up to position ${position}`;
  if (differences.length === 0) {
    say(`${green('✓')} ${what}: the log, the counters, the warehouse and the webhooks agree.`);
    if (deliveries.waiting > 0) say(`  ${deliveries.waiting.toLocaleString('en')} deliveries of webhooks still wait.`);
    return;
  }
  say(bold(`${differences.length} differences in ${what}:`));
  const rows = differences.slice(0, shownAtMost).map(({ what, code, log, found }) => [what, code, log, found]);
  say(table([['where', 'code', 'the log', 'found'], ...rows]));
  if (differences.length > shownAtMost) say(`… and ${differences.length - shownAtMost} more (--json shows all).`);
}
