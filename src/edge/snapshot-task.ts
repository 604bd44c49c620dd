import type { SecretBox } from '../lib/secret-box.ts';
import type { Routes } from './routes.ts';
import { writeSnapshot } from './snapshot.ts';

/** Returns a function that writes the routes to `folder` if they have changed since the last write. */
export function createSnapshotTask(
  folder: string,
  box: SecretBox,
  routes: Pick<Routes, 'all' | 'aliases' | 'changes'>,
): () => Promise<void> {
  let writtenChanges = 0;
  return async () => {
    const changes = routes.changes();
    if (changes === writtenChanges) return;
    // Copied, because routes can change while the file is being written.
    const [current, aliases] = [[...routes.all()], [...routes.aliases()]];
    // Keeps the snapshot of an earlier run rather than replacing it with an empty one.
    if (current.length === 0) return;
    await writeSnapshot(folder, box, { routes: current, aliases });
    writtenChanges = changes;
  };
}
