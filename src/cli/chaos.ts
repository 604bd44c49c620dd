import type { ExternalServers } from '../../bench/chaos/external-world.ts';
import { type ChaosResult, runChaos } from '../../bench/chaos/run.ts';
import { readConfig } from '../config/config.ts';
import { durabilities } from '../config/settings.ts';
import { StartError } from '../lib/errors.ts';
import { untilStopSignal } from '../service/stopping.ts';
import { dim, print, table } from './terminal.ts';

interface Options {
  minutes: string;
  external?: boolean;
  durability?: string;
  maintenance?: boolean;
}

/** Injects failures, then accounts for every scan; the exit code is 1 if one is lost or counted twice. */
export async function chaos({ minutes, external = false, durability, maintenance = false }: Options): Promise<void> {
  if (!/^\d{1,3}(\.\d+)?$/.test(minutes) || Number(minutes) === 0 || Number(minutes) > 120)
    throw new StartError('--minutes must be a number greater than 0 and at most 120.');
  const given = durabilities.find((one) => one === durability);
  if (durability !== undefined && given === undefined)
    throw new StartError(`--durability must be one of ${durabilities.join(', ')}.`);
  if (external && maintenance) throw new StartError('--maintenance needs the temporary stack: leave out --external.');
  const servers = external ? externalServers() : undefined;
  const deadline = performance.now() + Number(minutes) * 60_000;
  let stopRequested = false;
  untilStopSignal().then(() => {
    stopRequested = true;
  });
  const result = await runChaos({
    servers,
    durability: given,
    maintenance,
    isOver: () => stopRequested || performance.now() > deadline,
    onStep: (step) => print(dim(`  ${new Date().toISOString().slice(11, 19)}  ${step}`)),
  });
  report(result);
  if (result.isClean) return;
  process.exitCode = 1;
  print('Failed: every redirect must be recorded as exactly one scan.');
}

function externalServers(): ExternalServers {
  const { databaseUrl, natsUrl, clickhouseUrl, clickhouseCluster } = readConfig(process.env);
  if (databaseUrl === undefined || natsUrl === undefined || clickhouseUrl === undefined)
    throw new StartError('--external needs DATABASE_URL, NATS_URL and CLICKHOUSE_URL.');
  return { databaseUrl, natsUrl, clickhouseUrl, clickhouseCluster };
}

function report(result: ChaosResult): void {
  const { faults, total, webhook, interruptedReplays, feed, month, maintenance } = result;
  const { scans, differences } = result.verification;
  const head = ['fault', 'times', '302', '503', 'no response', 'lost', 'duplicated'];
  const rows = faults.map(({ fault, ...counts }) => [
    fault,
    ...[counts.times, counts.redirected, counts.refused, counts.unanswered, counts.lost, counts.duplicated].map(String),
  ]);
  print(`\n${table([head, ...rows])}\n`);
  print(
    `${total.redirected} redirects; ${total.logged} scans in the log, ${total.counted} in total_scans, ` +
      `${total.unanswered} of them with no redirect seen; ${total.lost} lost, ${total.duplicated} duplicated.`,
  );
  print(
    `${webhook.scans} scans to deliver to the webhook; ${webhook.undelivered} not delivered, ${webhook.inconsistentIds} under two ids.`,
  );
  print(
    `${webhook.replays} replays of the webhook with ${webhook.replayed} deliveries; ${interruptedReplays} interrupted, ` +
      `${webhook.unfinishedReplays} not finished.`,
  );
  print(
    `${feed.scans} scans in the event feed, over ${feed.connections} connections: ${feed.missing} missing, ${feed.repeated} repeated, ` +
      `${feed.inOrder ? 'all' : 'not all'} in order.`,
  );
  const steps = Object.entries(month).map(([step, done]) => `${done ? '' : 'not '}${step}`);
  print(`A month whose only code was deleted: ${steps.join(', ')}.`);
  if (maintenance !== undefined)
    print(
      `${maintenance.backups} backups and ${maintenance.verifications} verifications finished, ${maintenance.interrupted} were ended by a fault; ` +
        `the log reached a new partition ${maintenance.partitions} times.`,
    );
  print(
    differences.length === 0
      ? `${scans} scans: the log, the counters, the warehouse and the deliveries agree.`
      : `${differences.length} differences, such as ${JSON.stringify(differences[0])}.`,
  );
}
