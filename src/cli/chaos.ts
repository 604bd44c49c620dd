import { type ChaosResult, runChaos } from '../chaos/run.ts';
import { StartError } from '../lib/errors.ts';
import { untilAskedToStop } from './stopping.ts';
import { dim, say, table } from './terminal.ts';

interface Options {
  minutes: string;
}

/** Breaks everything for a while, and says what became of every scan; ends with an error when one is lost or doubled. */
export async function chaos({ minutes }: Options): Promise<void> {
  if (!/^\d{1,3}(\.\d+)?$/.test(minutes) || Number(minutes) === 0 || Number(minutes) > 120)
    throw new StartError('--minutes must be a number up to 120.');
  const deadline = performance.now() + Number(minutes) * 60_000;
  let asked = false;
  untilAskedToStop().then(() => {
    asked = true;
  });
  const result = await runChaos({
    isOver: () => asked || performance.now() > deadline,
    onStep: (step) => say(dim(`  ${new Date().toISOString().slice(11, 19)}  ${step}`)),
  });
  report(result);
  if (result.isClean) return;
  process.exitCode = 1;
  say('This must not be: every redirect has to be exactly one scan.');
}

function report({ faults, total, told, verification: { scans, differences } }: ChaosResult): void {
  const head = ['fault', 'times', '302', '503', 'no answer', 'lost', 'doubled'];
  const rows = faults.map(({ fault, ...counts }) => [
    fault,
    ...[counts.times, counts.redirected, counts.refused, counts.unanswered, counts.lost, counts.doubled].map(String),
  ]);
  say(`\n${table([head, ...rows])}\n`);
  say(
    `${total.redirected} redirects; ${total.logged} scans in the log, ${total.counted} in total_scans, ` +
      `${total.unanswered} of them with no redirect seen; ${total.lost} lost, ${total.doubled} doubled.`,
  );
  say(`${told.scans} scans to tell to the webhook; ${told.untold} not told, ${told.renamed} under two ids.`);
  say(
    differences.length === 0
      ? `${scans} scans: the log, the counters, the warehouse and the deliveries agree.`
      : `${differences.length} differences, such as ${JSON.stringify(differences[0])}.`,
  );
}
