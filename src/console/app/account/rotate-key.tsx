import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { time } from '../format.ts';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { useAction } from '../parts/use-action.ts';
import type { ApiKey, RotatedApiKey } from '../types.ts';
import { KeySecret } from './key-secret.tsx';

const overlaps = [
  [0, 'It stops at once'],
  [1, 'For 1 hour'],
  [24, 'For 24 hours'],
  [168, 'For 7 days'],
] as const;

interface Props {
  apiKey: ApiKey;
  /** Whether the session was opened with the key, and ends with it. */
  isOwn: boolean;
  onDone(): Promise<void>;
  onClose(): void;
}

/** Replaces the secret of a key, while the old one still works for a time. */
export function RotateDialog({ apiKey, isOwn, onDone, onClose }: Props) {
  const [overlap, setOverlap] = useState(24);
  const [rotated, setRotated] = useState<RotatedApiKey>();
  const { busy, run } = useAction();
  const rotate = () =>
    run(async () => {
      setRotated(await api.post<RotatedApiKey>(`/account/keys/${apiKey.id}/rotate`, { overlap_hours: overlap }));
      // Without an overlap, the list can no longer be read with the key of this session.
      if (!isOwn || overlap > 0) await onDone();
    });
  if (rotated !== undefined)
    return (
      <KeySecret title="API key rotated" secret={rotated.key} onClose={onClose}>
        <p class="hint">
          {overlap === 0
            ? `The old secret, ending in ${apiKey.last4}, no longer works.`
            : `The old secret, ending in ${apiKey.last4}, works until ${time(rotated.replaced.works_until)}.`}
        </p>
      </KeySecret>
    );
  return (
    <Dialog title={`Rotate ${apiKey.name}?`} onClose={onClose}>
      <Form onSubmit={rotate}>
        <p>
          Creates a key with a new secret and the same name, access and networks. Replace the old secret where you use
          it while both work.{isOwn && ' This session was opened with the key, and ends with its old secret.'}
        </p>
        <label class="stack gap-xs field">
          The old secret still works
          <select value={overlap} onChange={({ currentTarget: { value } }) => setOverlap(Number(value))}>
            {overlaps.map(([hours, text]) => (
              <option key={hours} value={hours}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy}>
            Rotate key
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
