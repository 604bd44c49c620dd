import { verify } from '../maintenance/verify.ts';
import { withWarehouse } from './connection.ts';
import { progressBar } from './progress.ts';
import { bold, counted, green, print, table } from './terminal.ts';

const maxShown = 50;

/** Compares every projection with the log; the exit code is 1 if they differ. */
export async function showVerification(options: { account?: string; json?: boolean; data: string }): Promise<void> {
  const bar = progressBar('reading the log');
  const result = await withWarehouse(options.data, (parts) =>
    verify({ ...parts, account: options.account, onProgress: bar.update }),
  );
  bar.end();
  const { differences, position, codes, scans, archived, dropped, deliveries } = result;
  if (differences.length > 0) process.exitCode = 1;
  if (options.json) {
    print(JSON.stringify(result));
    return;
  }
  const what = `${counted(scans, 'scan')} of ${counted(codes, 'code')}, up to position ${position}`;
  if (differences.length === 0) {
    print(`${green('✓')} ${what}: the log, the counters, the warehouse and the webhooks agree.`);
    if (archived > 0)
      print(`  ${archived.toLocaleString('en')} of the scans are in archive files, which are complete.`);
    if (dropped > 0)
      print(
        `  The totals of codes include ${dropped.toLocaleString('en')} scans that SCAN_RETENTION_MONTHS has deleted.`,
      );
    if (deliveries.waiting > 0) print(`  Not sent yet: ${counted(deliveries.waiting, 'event')} of webhooks.`);
    return;
  }
  print(bold(`${counted(differences.length, 'difference')} in ${what}:`));
  const rows = differences.slice(0, maxShown).map(({ what, code, log, found }) => [what, code, log, found]);
  print(table([['WHERE', 'CODE', 'LOG', 'FOUND'], ...rows]));
  if (differences.length > maxShown) print(`… and ${differences.length - maxShown} more (--json prints all).`);
}
