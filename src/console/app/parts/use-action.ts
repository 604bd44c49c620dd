import { useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api.ts';
import { toast } from './toast.tsx';

export type Faults = Record<string, string>;

/**
 * Something a person asked for: runs once at a time, and tells what went wrong, at the fields where it says which.
 * `fields` are those that show their faults themselves.
 */
export function useAction(fields: readonly string[] = []) {
  const [busy, setBusy] = useState(false);
  const [faults, setFaults] = useState<Faults>({});
  async function run(action: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setFaults({});
    try {
      await action();
    } catch (error) {
      const details = error instanceof ApiError ? error.details.filter(({ field }) => fields.includes(field)) : [];
      if (details.length > 0) setFaults(Object.fromEntries(details.map(({ field, message }) => [field, message])));
      else toast(messageOf(error), 'failed');
    } finally {
      setBusy(false);
    }
  }
  return { busy, faults, setFaults, run };
}
