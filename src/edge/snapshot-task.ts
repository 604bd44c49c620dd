import type { SecretBox } from '../lib/secret-box.ts';
import type { Routes } from './routes.ts';
import { writeSnapshot } from './snapshot.ts';

/** A function that writes the routes to `folder` if they have changed since it last did. */
export function createSnapshotTask(
  folder: string,
  box: SecretBox,
  routes: Pick<Routes, 'all' | 'changes'>,
): () => Promise<void> {
  let written = 0;
  return async () => {
    const changes = routes.changes();
    if (changes === written) return;
    // Copied, since writing takes many turns of the event loop in which routes can change.
    const current = [...routes.all()];
    // What an earlier edge wrote is better than nothing.
    if (current.length === 0) return;
    await writeSnapshot(folder, box, current);
    written = changes;
  };
}
