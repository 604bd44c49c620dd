import { useLayoutEffect, useState } from 'preact/hooks';
import { ApiError, errorMessage, isSessionError } from '../api.ts';
import { type FieldErrors, isWithin } from './field-errors.ts';
import { toast } from './toast.tsx';

export type { FieldErrors } from './field-errors.ts';

/**
 * Runs a user's action, one at a time. Errors of the form's `fields` are returned as `errors`, to be shown next to them, and
 * the first wrong field gets the focus; any other error is shown as a toast, unless the page asks the user to sign in
 * again.
 */
export function useAction(fields: readonly string[] = []) {
  const [busy, setBusy] = useState(false);
  const [errors, setErrors] = useState<FieldErrors>({});
  /** Increases with every attempt that a field made fail. */
  const [failures, setFailures] = useState(0);
  useLayoutEffect(() => {
    if (failures > 0) focusFirstError();
  }, [failures]);

  function fail(invalid: FieldErrors): void {
    setErrors(invalid);
    if (Object.keys(invalid).length > 0) setFailures((count) => count + 1);
  }
  async function run(action: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setErrors({});
    try {
      await action();
    } catch (error) {
      const isShown = (field: string) => fields.some((shown) => isWithin(field, shown));
      const details = error instanceof ApiError ? error.details.filter(({ field }) => isShown(field)) : [];
      if (details.length > 0) fail(Object.fromEntries(details.map(({ field, message }) => [field, message])));
      else if (!isSessionError(error)) toast(errorMessage(error), 'failed');
    } finally {
      setBusy(false);
    }
  }
  /** Replaces the error of a field while the user corrects it; a field without an error gets none before the next attempt. */
  function recheck(field: string, error: string | undefined): void {
    setErrors(({ [field]: before, ...others }) =>
      before === undefined || error === undefined ? others : { ...others, [field]: error },
    );
  }
  return { busy, errors, setErrors: fail, recheck, run };
}

/** In the middle of the screen, where nothing sticky covers it. */
function focusFirstError(): void {
  const open = document.querySelector('dialog[open]') ?? document;
  const field = open.querySelector<HTMLElement>('[aria-invalid="true"]');
  // A field in a closed part of the form cannot get the focus.
  field?.closest('details')?.setAttribute('open', '');
  field?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: 'center' });
}
