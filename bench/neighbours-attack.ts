/**
 * Attacks the service until SIGTERM; then prints what it answered. Runs as a separate process with the lowest priority: the clients
 * of an attack are not on the machine of the service.
 */
import { leaveFirstCpu } from '../src/lib/leave-first-cpu.ts';
import { lowerPriority } from '../src/lib/lower-priority.ts';
import { attackNamed } from './neighbours-attacks.ts';
import type { Attacker } from './neighbours-world.ts';

void lowerPriority(19);
leaveFirstCpu();
const attack = attackNamed(process.argv[2]);
if (attack === undefined) throw new Error(`there is no attack ${process.argv[2]}`);
const attacker = JSON.parse(process.env['ATTACKER'] ?? '{}') as Attacker;
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const responses: Record<string, number> = {};
await attack.run(attacker, stop.signal, (status) => {
  responses[status] = (responses[status] ?? 0) + 1;
});
console.log(JSON.stringify(responses));
process.exit(0);
