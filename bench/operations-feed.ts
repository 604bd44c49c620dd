import { leaveFirstCpu } from '../src/lib/leave-first-cpu.ts';
import { lowerPriority } from '../src/lib/lower-priority.ts';

/**
 * Reads the feed of an account from its beginning to its end: `bun bench/operations-feed.ts <url> <key> <events>`. In a separate
 * process that takes little from redirects, since a reader is on another machine.
 */
void lowerPriority(19);
leaveFirstCpu();
const [, , url = '', key = '', expected = ''] = process.argv;

async function countEvents(): Promise<number> {
  let events = 0;
  for (let after = ''; ; ) {
    const response = await fetch(`${url}/v1/events?types=scan.created&limit=1000${after}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    if (!response.ok) throw new Error(`/v1/events answered ${response.status}: ${await response.text()}`);
    const page = (await response.json()) as { data: unknown[]; next: string; has_more: boolean };
    events += page.data.length;
    if (!page.has_more) return events;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}

const events = await countEvents();
if (events !== Number(expected)) throw new Error(`the feed has ${events} events instead of ${expected}`);
