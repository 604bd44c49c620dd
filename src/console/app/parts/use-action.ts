import { useState } from 'preact/hooks';
import { ApiError, errorMessage, isSessionError } from '../api.ts';
import { toast } from './toast.tsx';

export type FieldErrors = Record<string, string>;

/**
 * Runs a user's action, one at a time. Errors of the form's `fields` are returned as `errors`, to be shown next to them;
 * any other error is shown as a toast, unless the page asks the user to sign in again.
 */
export function useAction(fields: readonly string[] = []) {
  const [busy, setBusy] = useState(false);
  const [errors, setErrors] = useState<FieldErrors>({});
  async function run(action: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setErrors({});
    try {
      await action();
    } catch (error) {
      const details = error instanceof ApiError ? error.details.filter(({ field }) => fields.includes(field)) : [];
      if (details.length > 0) setErrors(Object.fromEntries(details.map(({ field, message }) => [field, message])));
      else if (!isSessionError(error)) toast(errorMessage(error), 'failed');
    } finally {
      setBusy(false);
    }
  }
  return { busy, errors, setErrors, run };
}
