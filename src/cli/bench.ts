import { writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { benchAnalytics } from '../../bench/analytics.ts';
import { benchApi } from '../../bench/api.ts';
import { benchBurst } from '../../bench/burst.ts';
import { contactSheet } from '../../bench/contact-sheet.ts';
import { type Ground, prepareGround } from '../../bench/ground.ts';
import { benchGrowth } from '../../bench/growth.ts';
import { benchImages } from '../../bench/images.ts';
import { benchLeaks } from '../../bench/leaks.ts';
import { benchLog } from '../../bench/log.ts';
import { benchRedirect } from '../../bench/redirect.ts';
import { benchReplay } from '../../bench/replay.ts';
import type { BenchRow } from '../../bench/row.ts';
import { benchStart } from '../../bench/start.ts';
import { benchWebhooks } from '../../bench/webhooks.ts';
import type { Benchmark } from './benchmarks.ts';
import { bold, dim, say, table } from './terminal.ts';

interface Options {
  json?: boolean;
  sheet?: string;
}

/** Measures, and prints every figure with its limit from the same run. */
export async function bench(which: Benchmark, { json = false, sheet }: Options): Promise<void> {
  if (sheet !== undefined) {
    writeFileSync(sheet, contactSheet());
    say(`All shapes are drawn in ${sheet}.`);
    return;
  }
  const onStep = (step: string) => process.stderr.write(dim(`${step} …\n`));
  const wants = (name: Benchmark) => which === name || which === 'all';
  const rows: BenchRow[] = [];
  if (wants('images')) {
    rows.push(...(await benchImages()));
    rows.push(...(await onGround((ground) => benchBurst(ground, { onStep }))));
  }
  if (wants('redirect')) rows.push(...(await onGround((ground) => benchRedirect(ground, { onStep }))));
  if (wants('log')) rows.push(...(await onGround((ground) => benchLog(ground, { onStep }))));
  if (wants('analytics')) {
    rows.push(...(await onGround((ground) => benchReplay(ground, { onStep }))));
    rows.push(...(await onGround((ground) => benchAnalytics(ground, { onStep }))));
  }
  if (wants('api')) {
    rows.push(...(await onGround((ground) => benchApi(ground, { onStep }))));
    rows.push(...(await benchStart({ onStep })));
  }
  if (wants('webhooks')) rows.push(...(await onGround((ground) => benchWebhooks(ground, { onStep }))));
  if (wants('growth')) rows.push(...(await onGround((ground) => benchGrowth(ground, { onStep }))));
  if (wants('leaks')) rows.push(...(await onGround((ground) => benchLeaks(ground, { onStep }))));

  const machine = `${cpus().length} cores, ${process.platform} ${release()} ${process.arch}, Bun ${Bun.version}`;
  if (json) {
    say(JSON.stringify({ machine, rows }));
    return;
  }
  const sign = (met: boolean | undefined) => (met === undefined ? '' : met ? '✓' : '✗');
  say(dim(machine));
  say(
    table([
      ['WHAT', 'FIGURE', 'AGAINST', 'RATIO', 'TARGET', '', 'GOAL', ''].map(bold),
      ...rows.map(({ what, figure, against, ratio, target, goal, met }) => [
        ...[what, figure, against, ratio === null ? '–' : String(ratio)],
        ...[target, sign(met?.target), goal, sign(met?.goal)],
      ]),
    ]),
  );
}

async function onGround(measure: (ground: Ground) => Promise<BenchRow[]>): Promise<BenchRow[]> {
  const ground = await prepareGround();
  try {
    return await measure(ground);
  } finally {
    await ground.stop();
  }
}
