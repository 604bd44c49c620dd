import { useState } from 'preact/hooks';
import { drawSvg } from '../../../qr/svg.ts';
import { api } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { save } from '../parts/save.ts';
import { useAction } from '../parts/use-action.ts';
import type { RecoveryCodes, TotpSetup } from './types.ts';

const sizePx = 240;

interface SetupProps {
  setup: TotpSetup;
  onDone(recovery: RecoveryCodes): Promise<void>;
  onClose(): void;
}

/** Shows the secret for the app, as a QR code and as text, and asks for a first code. */
export function TotpDialog({ setup, onDone, onClose }: SetupProps) {
  const [code, setCode] = useState('');
  const { busy, errors, recheck, run } = useAction(['code']);
  const confirm = () => run(async () => onDone(await api.post<RecoveryCodes>('/me/totp/confirm', { code })));
  return (
    <Dialog title="Set up one-time codes" onClose={onClose}>
      <p>Scan this with an app for one-time codes, such as the password manager of your phone.</p>
      <div class="stack phone-code">
        <img
          src={`data:image/svg+xml,${encodeURIComponent(drawSvg(setup.url, {}, sizePx))}`}
          alt="QR code with the secret for your app"
          width={sizePx}
          height={sizePx}
        />
      </div>
      <details>
        <summary>I cannot scan it</summary>
        <p class="row nowrap">
          <code class="wrapped">{setup.secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
          <Copy text={setup.secret} label="Copy the secret" />
        </p>
      </details>
      <Form onSubmit={confirm}>
        <Field
          label="The code that the app shows"
          value={code}
          onValue={(value) => {
            setCode(value);
            recheck('code', undefined);
          }}
          error={errors['code']}
          inputMode="numeric"
          isCode
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || code.trim() === ''}>
            Turn on
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Shows the recovery codes, once. */
export const RecoveryCodesDialog = ({ codes, onClose }: { codes: string[]; onClose(): void }) => (
  <Dialog title="Your recovery codes" staysOpen>
    <p>Each signs you in once, instead of a code of your app. Keep them where you find them without your phone.</p>
    <code class="block">{codes.join('\n')}</code>
    <div class="row actions">
      <Copy text={codes.join('\n')} label="Copy the recovery codes">
        Copy
      </Copy>
      <button
        type="button"
        class="button"
        onClick={() => save(new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' }), 'scanlog-recovery-codes.txt')}
      >
        <Icon name="download" />
        Download
      </button>
      <button type="button" class="button primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
);
