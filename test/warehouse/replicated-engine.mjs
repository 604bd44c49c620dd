// Runs statements on chdb with the configuration of a replica, and prints what became of each. A process of its own, and
// plain Node: the library is half a gigabyte, keeps one directory for as long as it lives, and does not run on Bun.
import { readFileSync } from 'node:fs';
import { Session } from 'chdb';

const [dataDir, config] = process.argv.slice(2);
const session = new Session(dataDir, { connectionArgs: [`--config-file=${config}`] });
const outcomes = JSON.parse(readFileSync(0, 'utf8')).map((statement) => {
  try {
    return { ok: session.query(statement, 'TabSeparatedRaw').trim() };
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(outcomes), () => {
  // A table without its replicas' port tries to start for ever, and closing the session would wait for it.
  process.kill(process.pid, 'SIGKILL');
});
