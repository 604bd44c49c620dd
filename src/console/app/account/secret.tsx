import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Copy } from '../parts/copy.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import type { Webhook, WebhookTest } from '../types.ts';
import { AttemptLine } from './deliveries.tsx';

interface Props {
  /** The path of the webhook in the API. */
  path: string;
  webhook: Pick<Webhook, 'secret' | 'old_secret_valid_until'>;
  onChange(): Promise<void>;
}

/** The signing secret of a webhook, its rotation, and a test event. */
export function Secret({ path, webhook: { secret, old_secret_valid_until }, onChange }: Props) {
  const [isShown, setIsShown] = useState(false);
  const [isRotating, setIsRotating] = useState(false);
  const [testResult, setTestResult] = useState<WebhookTest>();
  const { busy, run } = useAction();
  const sendTest = () => run(async () => setTestResult(await api.post<WebhookTest>(`${path}/test`)));
  return (
    <div class="stack gap-s secret-row">
      <span class="label">Signing secret</span>
      <code class="block">{isShown ? secret : `${secret.slice(0, 6)}${'•'.repeat(24)}`}</code>
      <div class="row actions">
        <button type="button" class="button" aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
          {isShown ? 'Hide' : 'Reveal'}
        </button>
        <Copy text={secret} label="Copy signing secret">
          Copy
        </Copy>
        <button type="button" class="button" onClick={() => setIsRotating(true)}>
          <Icon name="refresh" />
          Rotate
        </button>
        <button type="button" class="button" disabled={busy} onClick={sendTest}>
          <Icon name="send" />
          Send test event
        </button>
      </div>
      {old_secret_valid_until !== null && (
        <p class="hint">Deliveries are also signed with the previous secret until {time(old_secret_valid_until)}.</p>
      )}
      {testResult !== undefined && (
        <div role="status">
          <AttemptLine attempt={testResult} />
        </div>
      )}
      {isRotating && (
        <RotateDialog
          path={path}
          onChange={async () => {
            await onChange();
            setIsShown(true);
          }}
          onClose={() => setIsRotating(false)}
        />
      )}
    </div>
  );
}

interface DialogProps {
  path: string;
  onChange(): Promise<void>;
  onClose(): void;
}

function RotateDialog({ path, onChange, onClose }: DialogProps) {
  const rotate = async () => {
    await api.post(`${path}/rotate`);
    await onChange();
    toast('Secret rotated. The previous secret stays valid for 24 hours.');
    onClose();
  };
  return (
    <ConfirmDialog title="Rotate signing secret?" label="Rotate secret" onConfirm={rotate} onClose={onClose}>
      <p>Deliveries are signed with both secrets for 24 hours, so you have time to update your server.</p>
    </ConfirmDialog>
  );
}
