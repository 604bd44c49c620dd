// Runs statements on chdb with the configuration of a replica, and prints the result of each. In a separate Node process,
// because the library is half a gigabyte, uses one directory until the process ends, and does not run on Bun.
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
  // A replicated table that cannot reach its replicas never finishes starting, and closing the session would wait for it.
  process.kill(process.pid, 'SIGKILL');
});
